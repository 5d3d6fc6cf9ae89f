// Tables in PostgreSQL. Separate from projections/index.ts, so that the embedded default loads no client library.

export { schemasThere } from './engine/postgres/catalog.ts'
export { schemaOfOthers } from './engine/postgres/failures.ts'
export { PostgresHome, type PostgresOptions } from './engine/postgres/home.ts'
export { openPool, type PoolOptions } from './engine/postgres/pool.ts'
