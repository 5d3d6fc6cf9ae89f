// Tables in PostgreSQL. Apart from projections/index.ts, so that the embedded default loads no client.

export { schemasThere } from './store/postgres/catalog.ts'
export { schemaOfOthers } from './store/postgres/failures.ts'
export { PostgresHome, type PostgresOptions } from './store/postgres/home.ts'
export { openPool, type PoolOptions } from './store/postgres/pool.ts'
