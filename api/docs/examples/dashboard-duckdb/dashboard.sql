-- Views for a dashboard over `keepup export --events --tables --to exported`, for DuckDB.

create or replace view events as
select * from read_parquet('exported/events/*/*.parquet', hive_partitioning = true);

create or replace view runs_per_day as
select cast(cast(created_at as timestamptz) as date) as day, status, count(*) as runs
from 'exported/tables/runs.parquet'
group by all
order by day, status;

create or replace view cost_per_day as
select
  cast(cast(ended_at as timestamptz) as date) as day,
  model,
  count(*) as calls,
  sum(input + cache_read + cache_write) as input_tokens,
  sum(output) as output_tokens,
  sum(nano_dollars) / 1e9 as dollars
from 'exported/tables/model_calls.parquet'
where ended_at is not null
group by all
order by day, dollars desc;

create or replace view tools as
select
  tool_name,
  count(*) as calls,
  count(*) filter (where ran = 1) as ran,
  count(*) filter (where code is not null) as failed,
  quantile_cont(duration_ms, 0.5) as median_ms,
  quantile_cont(duration_ms, 0.95) as p95_ms
from 'exported/tables/tool_calls.parquet'
group by all
order by calls desc;

create or replace view waits_for_people as
select
  decided_by,
  status,
  count(*) as approvals,
  quantile_cont(epoch(cast(decided_at as timestamptz)) - epoch(cast(requested_at as timestamptz)), 0.5) as median_seconds
from 'exported/tables/approvals.parquet'
where decided_at is not null
group by all
order by approvals desc;

create or replace view open_approvals as
select run_id, tool_call_id, tool_name, requested_at, reason
from 'exported/tables/approvals.parquet'
where status = 'pending'
order by requested_at;

create or replace view busiest_hours as
select hour(time) as hour_utc, count(*) as events, count(distinct run_id) as runs
from events
group by all
order by hour_utc;
