import pg from 'pg'
import { PostgresServer } from '../../support/postgres/postgres-server.ts'

/** A PostgreSQL of the bench's own, and an empty database in it for each process. */
export class Databases {
  readonly #server: PostgresServer
  readonly #client: pg.Client
  readonly #pid: number
  readonly version: string
  #count = 0

  private constructor(
    server: PostgresServer,
    client: pg.Client,
    about: { readonly pid: number; readonly version: string },
  ) {
    this.#server = server
    this.#client = client
    this.#pid = about.pid
    this.version = about.version
  }

  static async start(folder: string): Promise<Databases> {
    const server = new PostgresServer(folder)
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query<{ file: string; version: string }>(
      "SELECT pg_read_file('postmaster.pid') AS file, current_setting('server_version') AS version",
    )
    return new Databases(server, client, { pid: Number.parseInt(rows[0]!.file, 10), version: rows[0]!.version })
  }

  async create() {
    const name = `peers_${++this.#count}`
    await this.#client.query(`CREATE DATABASE ${name}`)
    // A host in its place, which the parameter overrides, because DBOS takes the URL apart as one of the web.
    const url = `postgres://keepup@localhost/${name}${new URL(this.#server.url.replace('@/', '@localhost/')).search}`
    return {
      url,
      pid: this.#pid,
      drop: async () => void (await this.#client.query(`DROP DATABASE ${name} WITH (FORCE)`)),
    }
  }

  async stop(): Promise<void> {
    await this.#client.end()
    this.#server.remove()
  }
}
