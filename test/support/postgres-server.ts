import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A real PostgreSQL for tests: its own data folder, its own socket, no port, fsync on.

/** The folder of the server's programs, the newest version; null: there is none here. */
function programs(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(root, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl'))) ?? null
}

/** Null: there is no PostgreSQL here. */
export const found = programs()

/** The server refuses to be root; then it is the user that its package made. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

export class PostgresServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'keepup-pg-'))
  readonly #user = owner()
  readonly #keeper: ChildProcess
  readonly url: string

  constructor() {
    const [data, socket] = [join(this.#folder, 'data'), join(this.#folder, 's')]
    for (const folder of [this.#folder, data, socket]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (this.#user.uid !== undefined) chownSync(folder, this.#user.uid, this.#user.gid!)
    }
    // It sorts as people do, which the tables must not.
    const locale = ['-E', 'UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US']
    this.#run('initdb', ['-D', data, '-U', 'keepup', '-A', 'trust', ...locale, '--no-sync'])
    this.#keeper = this.#keep()
    this.start()
    this.url = `postgres://keepup@/postgres?host=${encodeURIComponent(socket)}`
  }

  start(): void {
    // Only the tests take locks.
    const settings = `-c autovacuum=off -c listen_addresses='' -c unix_socket_directories='${join(this.#folder, 's')}' -c max_connections=60`
    this.#ctl('start', ['-o', settings, '-l', join(this.#folder, 'log')])
  }

  /** `immediate`: stops as a crash does, without a message to clients. */
  stop(mode: 'fast' | 'immediate'): void {
    this.#ctl('stop', ['-m', mode])
  }

  remove(): void {
    this.stop('immediate')
    this.#keeper.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** The server is a daemon, so a watcher stops it when this process ends in any way. */
  #keep(): ChildProcess {
    const script = `read -r _; '${join(found!, 'pg_ctl')}' -D '${this.#folder}/data' -m immediate stop; rm -rf '${this.#folder}'`
    const stdio: ['pipe', 'ignore', 'ignore'] = ['pipe', 'ignore', 'ignore']
    const keeper = spawn('/bin/sh', ['-c', script], { stdio, cwd: '/', detached: true, ...this.#user })
    keeper.unref()
    ;(keeper.stdin as Socket).unref()
    return keeper
  }

  #ctl(command: string, args: readonly string[]): void {
    this.#run('pg_ctl', ['-D', join(this.#folder, 'data'), '-w', '-s', command, ...args])
  }

  #run(program: string, args: readonly string[]): void {
    execFileSync(join(found!, program), args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: '/', ...this.#user })
  }
}
