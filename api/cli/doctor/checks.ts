import { execFile } from 'node:child_process'
import { constants, existsSync, statSync } from 'node:fs'
import { access, mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { inWorkspaces } from '../../../adapters/processes/workspaces.ts'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { fileOf } from '../../../adapters/sqlite/log/connection.ts'
import { alteredGuards } from '../../../adapters/sqlite/log/guards.ts'
import { isReadOnlyFileSystem } from '../../../adapters/sqlite/open-to-read.ts'
import { checkVault } from '../../../adapters/vault/file-vault.ts'
import type { KeySource } from '../../../adapters/vault/keys.ts'
import { platformOf } from '../../../domain/platform.ts'
import { unhidableKey } from '../../../domain/secrets/forms.ts'
import { tokenPath } from '../../http/token.ts'
import { type Config, onServers, unknownVariables } from '../../process/config/settings.ts'
import { paths } from '../../process/host/paths.ts'
import { vaultKeys } from '../../process/host/vault-keys.ts'
import { OwnerError } from '../../process/owner/backend.ts'
import type { Client } from '../client.ts'
import type { LossReportAnswer } from '../output/loss-text.ts'
import { checkConsumers } from './consumers.ts'
import { bad, checkOrphans, checkParked, checkRestores, type Finding, message, ok } from './finding.ts'
import { checkHeads } from './heads.ts'
import { howToInstall } from './install.ts'
import { checkRetention } from './retention.ts'
import { checkRows } from './rows.ts'
import { checkServers } from './servers.ts'
import { checkEnd, checkStored } from './stored.ts'
import { checkTelemetry } from './telemetry.ts'
import { checkWebhooks } from './webhooks.ts'

const run = promisify(execFile)

const MIN_FREE = 1024 ** 3
const MODEL_KEYS = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY']
const BASE_URLS = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']

export function checkNode(version: string): Finding {
  const major = Number(version.replace(/^v/, '').split('.')[0])
  return major >= 24 ? ok('node', version) : bad('broken', 'node', version, 'install Node.js 24 or newer')
}

/** The folder, or its nearest existing parent. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))

export async function checkFolder(folder: string): Promise<Finding> {
  try {
    const place = nearest(folder)
    if (place !== folder) {
      await access(place, constants.W_OK | constants.X_OK)
      if (!(await stat(place)).isDirectory()) throw new Error(`${place} is a file`)
      return ok('data folder', `${folder}; the first run makes it`)
    }
    const found = await stat(folder)
    if (!found.isDirectory())
      return bad('broken', 'data folder', `${folder} is a file`, 'name a folder with --data or KEEPUP_DATA')
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    const { mode, uid } = found
    if (process.getuid && uid !== process.getuid()) {
      return bad('warning', 'data folder', `${folder} belongs to another user`, 'name one of your own with --data')
    }
    if (platformOf(process.platform).hasModes && (mode & 0o077) !== 0) {
      return bad('warning', 'data folder', `${folder} can be entered by other users`, `chmod 700 '${folder}'`)
    }
    return ok('data folder', folder)
  } catch (error) {
    if (isReadOnlyFileSystem(folder)) {
      const todo = 'runs can be read, verified and packed; to go on with them, copy the folder'
      return bad('warning', 'data folder', `${folder} is on a read-only file system`, todo)
    }
    return bad('broken', 'data folder', message(error), 'make it writable, or name another one with --data')
  }
}

export async function checkToken(folder: string): Promise<Finding> {
  const path = tokenPath(folder)
  if (!existsSync(path)) return ok('token', 'none yet; the first start makes it')
  const { mode } = await stat(path)
  if (!platformOf(process.platform).hasModes || (mode & 0o077) === 0) return ok('token', 'only you can read it')
  return bad('broken', 'token', 'other users can read it', `delete '${path}' (a new one is made) or chmod 600 it`)
}

/** Reports only faults. Without its vault, nothing starts. */
export async function vaultFault(folder: string, keys?: KeySource): Promise<Finding[]> {
  try {
    const names = await checkVault(folder, keys)
    if (names.length === 0) return []
    const found = `not hidden in records: ${names.join(', ')}; the values are too short, or ordinary words`
    return [bad('warning', 'secrets', found, 'set longer values with keepup secrets set NAME; no run is given these')]
  } catch (error) {
    const [found = '', ...todo] = message(error).split('; ')
    return [bad('broken', 'vault', found, todo.join('; '))]
  }
}

export async function checkLog(identity: () => Promise<{ logId: string; kind: string }>): Promise<Finding> {
  try {
    const { logId, kind } = await identity()
    return ok('log', `${logId}, ${kind === 'remote' ? 'owned by another process, which answers' : 'opened here'}`)
  } catch (error) {
    if (error instanceof OwnerError && error.code === 'NOTHING_YET')
      return ok('log', 'none yet; the first run makes it')
    return bad('broken', 'log', message(error), 'do what the message says; "verify" then checks what is stored')
  }
}

/** Reports only altered guards. The guards prevent changes to recorded events. */
export function checkGuards(folder: string): Finding[] {
  try {
    if (!existsSync(fileOf(folder))) return []
    const altered = alteredGuards(folder)
    if (altered.length === 0) return []
    const todo = 'find out who has written to log.db; "verify" tells what was changed; restore the log from a backup'
    return [bad('broken', 'log guards', `removed or changed: ${altered.join(', ')}`, todo)]
  } catch {
    // The check of the log itself reports why it does not open.
    return []
  }
}

/** Tries the sandbox in an empty folder, with the settings of a run. */
export async function checkSandbox(
  sandboxed: boolean,
  program: () => string = () => findProgram('bwrap'),
): Promise<Finding[]> {
  const todo = `${howToInstall('bubblewrap')}, and allow user namespaces; or say --no-sandbox where commands may run unconfined`
  const workspace = await mkdtemp(join(tmpdir(), 'keepup-doctor-'))
  const told: string[] = []
  try {
    const bwrap = program()
    await createSandbox({ workspace, hide: [], bwrap, warn: (text) => told.push(text) })
    const found = `bubblewrap works, ${bwrap}`
    const state = sandboxed
      ? ok('sandbox', found)
      : bad('warning', 'sandbox', `${found}, but "sandboxed" is false`, 'remove the setting to confine commands')
    return [state, ...told.map(unbounded)]
  } catch (error) {
    return [bad('warning', 'sandbox', message(error), todo)]
  } finally {
    await rm(workspace, { recursive: true, force: true })
  }
}

function unbounded(text: string): Finding {
  const [found = '', ...todo] = text.split('; ')
  return bad('warning', 'process limit', found, todo.join('; '))
}

export async function checkGit(program: () => string = () => findProgram('git')): Promise<Finding> {
  try {
    const git = program()
    const { stdout } = await run(git, ['--version'], { timeout: 5000, env: {} })
    return ok('git', `${stdout.trim().replace(/^git version /, '')}, ${git}`)
  } catch (error) {
    return bad('broken', 'git', message(error), `the versions of a workspace are kept with it: ${howToInstall('git')}`)
  }
}

export function checkKeys(env: NodeJS.ProcessEnv): Finding {
  const set = [...MODEL_KEYS, ...BASE_URLS].filter((name) => (env[name] ?? '') !== '')
  const short = MODEL_KEYS.filter((name) => env[name]?.trim() && unhidableKey(env[name].trim()) !== null)
  if (short.length > 0)
    return bad(
      'warning',
      'model keys',
      `${short.join(', ')}: too short to be hidden, or an ordinary word`,
      'set the whole key, or leave it out for a server that asks for none',
    )
  if (set.length > 0) return ok('model keys', `${set.join(', ')} (names only)`)
  return bad(
    'warning',
    'model keys',
    'none is set',
    `set one of ${MODEL_KEYS.join(', ')}, or the base URL of a local server`,
  )
}

/**
 * Reports the folder with the least free space, because folders can be on different disks. The first is the data
 * folder.
 */
export async function checkDisk(folders: readonly string[]): Promise<Finding> {
  try {
    const places = [...new Set(folders.map(nearest))]
    const rooms = await Promise.all(
      places.map((place) => statfs(place).then(({ bavail, bsize }) => ({ place, free: bavail * bsize }))),
    )
    const { place, free } = rooms.reduce((least, room) => (room.free < least.free ? room : least))
    const found = `${(free / MIN_FREE).toFixed(1)} GiB free${place === places[0] ? '' : ` in ${place}`}`
    return free >= MIN_FREE
      ? ok('disk', found)
      : bad('warning', 'disk', found, 'make room: a full disk stops every run')
  } catch (error) {
    return bad('warning', 'disk', message(error), 'look at the disk of the data folder')
  }
}

/** Compares the clock with the modification time of this program's file, which cannot be in the future. */
export async function checkClock(now: number): Promise<Finding> {
  const { mtimeMs } = await stat(new URL(import.meta.url))
  if (now >= mtimeMs - 60_000) return ok('clock', new Date(now).toISOString())
  const found = `${new Date(now).toISOString()} is before this program was installed`
  return bad('warning', 'clock', found, 'set the clock; times in the log never go back, so they would stand still')
}

export function checkVariables(env: NodeJS.ProcessEnv): Finding {
  const unknown = unknownVariables(env)
  if (unknown.length === 0) return ok('settings', 'understood')
  return bad('warning', 'settings', `unknown variables: ${unknown.join(', ')}`, 'look for a misspelt name')
}

/** Parked streams, agents without a driver, and unfinished restores. */
interface Shown {
  readonly parked: readonly { readonly stream: string }[]
  readonly orphans: readonly unknown[]
  readonly restoring: readonly { readonly runId: string }[]
}

/** Checks the embedded tables. The check of the log reports why it does not open. */
async function checkTables(shown: () => Promise<Shown>): Promise<Finding[]> {
  try {
    const { parked, orphans, restoring } = await shown()
    const runs = restoring.map(({ runId }) => runId)
    return [...checkParked(parked.map(({ stream }) => stream)), ...checkOrphans(orphans.length), ...checkRestores(runs)]
  } catch (error) {
    if (error instanceof OwnerError) return []
    return [bad('warning', 'tables', message(error), 'do what the message says; the log is complete without them')]
  }
}

/** Questions that need the open log. */
interface Questions {
  identity(): Promise<{ logId: string; kind: string }>
  tables(): Promise<Shown>
  losses(): Promise<LossReportAnswer>
  client(): Promise<Client>
}

/** Runs all checks, in the order in which a person would look. */
export async function examine(
  config: Config,
  env: NodeJS.ProcessEnv,
  { identity, tables, losses, client }: Questions,
): Promise<Finding[]> {
  const at = paths(config.data)
  const folder = await checkFolder(config.data)
  // Nothing else can be looked at inside a file.
  if (statSync(config.data, { throwIfNoEntry: false })?.isFile()) return [checkNode(process.version), folder]
  const servers = onServers(config) ? await checkServers(config) : []
  const stored = onServers(config) ? [] : checkStored(config.data)
  const vault = await vaultFault(config.data, vaultKeys(config))
  // Most runs work in the folder where they are started.
  const writable = inWorkspaces(process.cwd(), config.data)
  const program = (name: string) => () => findProgram(name, { env, writable })
  const broken = [folder, ...vault, ...servers].find(({ state }) => state === 'broken')
  // Rows of damaged tables always differ, and the finding about the tables already names the remedy.
  const damaged = servers.some(({ check, state }) => check === 'tables' && state !== 'ok')
  return [
    checkNode(process.version),
    checkVariables(env),
    folder,
    await checkToken(config.data),
    ...vault,
    ...stored,
    await checkDisk([config.data, at.log, at.tables, at.blobs, at.versions, at.vault]),
    await checkClock(Date.now()),
    ...servers,
    ...(broken || onServers(config)
      ? []
      : [await checkLog(identity), ...checkGuards(at.log), ...(await checkTables(tables))]),
    ...(broken ? [] : await checkEnd(losses)),
    ...(broken || config.webhooks.length === 0 ? [] : await checkWebhooks(client)),
    ...(broken || config.telemetry === null ? [] : await checkTelemetry(client)),
    ...(broken ? [] : await checkConsumers(client, Date.now())),
    ...(broken || damaged
      ? []
      : [...(await checkRows(client)), ...(await checkHeads(client)), ...(await checkRetention(client))]),
    await checkGit(program('git')),
    ...(await checkSandbox(config.sandboxed, program('bwrap'))),
    checkKeys(env),
  ]
}
