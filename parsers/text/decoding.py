"""Decodes stored bytes to UTF-8 text: gzip, Zstandard, UTF-16 and byte order marks, recognised by their content.

Every function takes and yields blocks of bytes of any size. None holds more than a few megabytes, however far
compressed data expands.
"""

import codecs
import re
from collections.abc import Collection, Iterator
from itertools import chain

from trtforensics.errors import SourceError

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
SKIPPABLE_FRAMES = tuple(bytes((first,)) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))
"""The frames that ``pzstd`` begins a Zstandard file with."""

COMPRESSED = (GZIP, ZSTANDARD, *SKIPPABLE_FRAMES)

JSON_OPENING = re.compile(rb"\A\s*[{\[]\s*[\"{\[\]}]")
"""How a text begins that is a JSON document."""

_UTF8_MARK = codecs.BOM_UTF8
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_GZIP_FORMAT = 31
"""zlib's ``wbits`` for a gzip header, the largest window, and a verified checksum."""
_ZSTANDARD_STEP = 512
"""Compressed bytes decompressed at once. Four of them can expand to 128 KiB, so one step gives at most 16 MiB."""


def pieces(block: bytes, size: int) -> Iterator[bytes]:
    """Yield a block as it is, or, if it is longer, in pieces of at most ``size`` bytes."""
    if len(block) <= size:
        yield block
        return
    for start in range(0, len(block), size):
        yield block[start : start + size]


def is_encoded(head: bytes) -> bool:
    """Whether a source that begins so is compressed or has a byte order mark."""
    return head.startswith((*COMPRESSED, _UTF8_MARK, *_UTF16))


def sniff(blocks: Iterator[bytes], signatures: Collection[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the signature that a stream opens with (empty: none of them), and the stream from its beginning.

    More is read only while the beginning may still become a signature, so that the first line of a slow pipe is not
    held back.
    """
    head = b""
    for block in blocks:
        head += block
        if not any(len(head) < len(signature) and signature.startswith(head) for signature in signatures):
            break
    opening = next((signature for signature in signatures if head.startswith(signature)), b"")
    return opening, chain((head,), blocks)


def decompress(form: bytes, chunks: Iterator[bytes], where: str, limit: int) -> Iterator[bytes]:
    """Yield the text of stored chunks in blocks of about ``limit`` bytes; ``form`` is the signature of :func:`sniff`.

    The text of a chunk is yielded before the next chunk is read.

    Raises:
        SourceError: compressed data is damaged or ends too early. The text before that was yielded.
    """
    if not form:
        return chunks
    return _gunzip(chunks, where, limit) if form == GZIP else _unzstandard(chunks, where, limit)


def to_utf8(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Drop a byte order mark, and transcode UTF-16 that has one; PowerShell's ``>`` writes it.

    Invalid UTF-16 becomes a replacement character. Bytes without a mark are passed on untouched.
    """
    mark, blocks = sniff(blocks, (_UTF8_MARK, *_UTF16))
    first = next(blocks)[len(mark) :]
    if mark not in _UTF16:
        yield first
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(_UTF16[mark])("replace")
    for block in chain((first,), blocks):
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def _gunzip(chunks: Iterator[bytes], where: str, limit: int) -> Iterator[bytes]:
    """Yield the text of all members. Zero bytes behind a member are padding, as tapes and block devices leave it."""
    import zlib  # noqa: PLC0415 - few sources are compressed

    member = None
    for chunk in chunks:
        data = chunk if member else chunk.lstrip(b"\0")
        while data:
            member = member or zlib.decompressobj(_GZIP_FORMAT)
            try:
                text = member.decompress(data, limit)
            except zlib.error as error:
                raise _damaged(where, "gzip", error) from error
            yield text
            data = member.unconsumed_tail
            if member.eof:
                data = member.unused_data.lstrip(b"\0")
                member = None
    if member:
        raise _truncated(where, "gzip", "gzip -dc")


def _unzstandard(chunks: Iterator[bytes], where: str, limit: int) -> Iterator[bytes]:
    """Yield the text of all frames, in small steps because the library limits its input and not its output."""
    import zstandard  # noqa: PLC0415 - few sources are compressed

    decompressor = zstandard.ZstdDecompressor()
    frame = None
    for chunk in chunks:
        texts: list[bytes] = []
        for step in pieces(chunk, _ZSTANDARD_STEP):
            data = step
            while data:
                frame = frame or decompressor.decompressobj()
                try:
                    texts.append(frame.decompress(data))
                except zstandard.ZstdError as error:
                    raise _damaged(where, "Zstandard", error) from error
                data = b""
                if frame.eof:
                    data = frame.unused_data
                    frame = None
            if sum(map(len, texts)) >= limit:
                block, texts = b"".join(texts), []
                yield block
        yield b"".join(texts)
    if frame:
        raise _truncated(where, "Zstandard", "zstd -dc")


def _damaged(where: str, form: str, error: Exception) -> SourceError:
    return SourceError(
        where,
        f"holds damaged {form} data, or data that this tool cannot decompress ({error})",
        "Compress it again from the original, or decompress it yourself and name the result",
    )


def _truncated(where: str, form: str, command: str) -> SourceError:
    return SourceError(
        where,
        f"is truncated: its {form} data stops before its end",
        f"Copy it again; `{command} FILE > part.log` saves the part that is there",
    )
