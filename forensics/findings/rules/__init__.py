"""The rules: functions where judging takes logic, by topic; rows of ``tables`` where a line says it, by program."""
