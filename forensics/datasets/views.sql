-- The joins that people need. A build is known by source and build; near_tie_ratio is set where these are read.

CREATE VIEW layer_times AS
SELECT l.source, l.build, l.line, l.layer, l.type, l.layer_type, l.compute_precision, l.time_ms, l.time_is, l.share,
       b.release, b.gpu, b.model
FROM engine_layers l LEFT JOIN builds b USING (source, build)
WHERE l.time_ms IS NOT NULL;

CREATE VIEW final_choices AS
SELECT c.*, b.release, b.gpu, b.model
FROM choices c LEFT JOIN builds b USING (source, build)
WHERE c.final;

CREATE VIEW near_ties AS
SELECT c.*, b.release, b.gpu, b.model
FROM choices c LEFT JOIN builds b USING (source, build)
WHERE c.final IS NOT FALSE AND c.runner_up_ms <= c.time_ms * getvariable('near_tie_ratio');

CREATE VIEW node_precision AS
SELECT unnest(l.onnx_nodes) AS node, l.compute_precision, l.precision_from, l.layer, l.source, l.build, l.line,
       b.release, b.gpu, b.model
FROM engine_layers l LEFT JOIN builds b USING (source, build);

CREATE VIEW build_history AS
SELECT row_number() OVER (
           PARTITION BY r.model, r.gpu ORDER BY coalesce(r.started, s.modified), r.source, r.run
       ) AS number,
       coalesce(r.started, s.modified) AS dated, r.*, s.labels
FROM runs r JOIN sources s USING (source);
