import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresPrograms } from '../../../.ci/programs.js'

// A real PostgreSQL for tests: a separate data folder and socket, no port, fsync on.

/** The folder of the server's programs; undefined: no server is installed. */
export const found = postgresPrograms()

/** The server refuses to run as root. For root, use the user that its package created. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  user ??= { uid: postgresId('-u'), gid: postgresId('-g') }
  return user
}

let user: { uid: number; gid: number } | undefined
const postgresId = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))

/** Runs a script when this process ends in any way. Returns the process that waits for this. */
function atEnd(script: string): ChildProcess {
  const stdio: ['pipe', 'ignore', 'ignore'] = ['pipe', 'ignore', 'ignore']
  const keeper = spawn('/bin/sh', ['-c', `read -r _; ${script}`], { stdio, cwd: '/', detached: true, ...owner() })
  keeper.unref()
  ;(keeper.stdin as Socket).unref()
  return keeper
}

/** A data folder from initdb, kept for later test runs: copying it takes a tenth of the time. */
function template(): string {
  const initdb = join(found!, 'initdb')
  const { size, mtimeMs } = statSync(initdb)
  const version = createHash('sha256').update(`${initdb} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
  const kept = join(tmpdir(), `keepup-test-postgres-${version}`)
  if (existsSync(kept)) return kept
  const folder = newFolder(tmpdir())
  const data = join(folder, 'data')
  // A language-specific collation. The tables must not depend on it.
  const locale = ['-E', 'UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US']
  run(initdb, ['-D', data, '-U', 'keepup', '-A', 'trust', ...locale, '--no-sync'])
  try {
    renameSync(data, kept)
  } catch (error) {
    // Another process made it first.
    if (!existsSync(kept)) throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return kept
}

function newFolder(root: string): string {
  const [folder, { uid, gid }] = [mkdtempSync(join(root, 'keepup-pg-')), owner()]
  if (uid !== undefined) chownSync(folder, uid, gid!)
  return folder
}

function run(file: string, args: readonly string[]): void {
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: '/', ...owner() })
}

export class PostgresServer {
  readonly #folder: string
  readonly #keeper: ChildProcess
  #saved = 0
  readonly url: string
  /** The path of its socket. */
  readonly socket: string

  constructor(root = tmpdir()) {
    this.#folder = newFolder(root)
    const [data, socket] = [join(this.#folder, 'data'), join(this.#folder, 's')]
    run('mkdir', ['-m', '700', socket])
    run('cp', ['-a', template(), data])
    // The server is a daemon and would outlive this process.
    this.#keeper = atEnd(`'${join(found!, 'pg_ctl')}' -D '${data}' -m immediate stop; rm -rf '${this.#folder}'`)
    this.start()
    this.socket = join(socket, '.s.PGSQL.5432')
    this.url = `postgres://keepup@/postgres?host=${encodeURIComponent(socket)}`
  }

  start(): void {
    // Only the tests may take locks, so autovacuum is off.
    const settings = `-c autovacuum=off -c listen_addresses='' -c unix_socket_directories='${join(this.#folder, 's')}' -c max_connections=60`
    this.#ctl('start', ['-o', settings, '-l', join(this.#folder, 'log')])
  }

  /** `immediate`: stops like a crash, without a message to clients. */
  stop(mode: 'fast' | 'immediate'): void {
    this.#ctl('stop', ['-m', mode])
  }

  /** Copies the data folder of the stopped server. Returns its path, for {@link restore}. */
  save(): string {
    const copy = join(this.#folder, `saved-${this.#saved++}`)
    run('cp', ['-a', join(this.#folder, 'data'), copy])
    return copy
  }

  /** Puts a copy back under the stopped server, as an older standby that takes its place. */
  restore(copy: string): void {
    run('rm', ['-rf', join(this.#folder, 'data')])
    run('cp', ['-a', copy, join(this.#folder, 'data')])
  }

  remove(): void {
    this.stop('immediate')
    this.#keeper.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #ctl(command: string, args: readonly string[]): void {
    run(join(found!, 'pg_ctl'), ['-D', join(this.#folder, 'data'), '-w', '-s', command, ...args])
  }
}
