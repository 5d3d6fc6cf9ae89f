import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { ToolError } from '../../domain/calls/errors.ts'
import type { Redacted, References } from '../../domain/secrets/redactor.ts'
import { syncNames } from '../files/durable.ts'
import { exclusively } from '../files/exclusive.ts'
import { findProgram } from '../processes/programs.ts'
import { inWorkspaces } from '../processes/workspaces.ts'
import { WorkspaceError } from './error.ts'
import { TEMPORARY_FILES } from './files.ts'
import { exitOf, GitFailure, type GitPlace, git, startGit } from './git.ts'

/** Replaces secrets in stored files by references, and references in restored files by secrets. */
export interface VersionSecrets {
  /** `value` is the same object if it contains no secret. */
  redactBytes(bytes: Uint8Array): Redacted<Uint8Array>
  /** The references are durable when the promise resolves. */
  remember(references: References): Promise<void>
  resolve(reference: string): string | null
}

export const NO_SECRETS: VersionSecrets = {
  redactBytes: (bytes) => ({ value: bytes, references: new Map() }),
  remember: async () => {},
  resolve: () => null,
}

// These attributes override those of the workspace, so that git neither converts nor filters any byte.
const ATTRIBUTES = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff !merge\n'
// The complete configuration. Other entries could name programs.
const CONFIG = `[core]
	repositoryformatversion = 1
	filemode = true
	bare = true
[extensions]
	objectformat = sha256
`
const EXCLUDED = `node_modules/\n${TEMPORARY_FILES}\n`

/**
 * Opens the bare repository with all shadow versions of a data folder, and the index of one workspace. Creates the
 * repository if it is missing. Rejects with WorkspaceError VERSIONS_DAMAGED if it is damaged.
 */
export async function openShadowRepository(dataFolder: string, workspace: string, git?: string): Promise<GitPlace> {
  const repository = join(dataFolder, 'versions.git')
  const indexes = join(dataFolder, 'versions-index')
  const key = createHash('sha256').update(workspace).digest('hex').slice(0, 32)
  const program = git ?? gitOutside(dataFolder, workspace)
  const place = { program, repository, index: join(indexes, key), workTree: workspace }
  if (!existsSync(repository)) {
    await exclusively(join(dataFolder, 'locks', 'versions.db'), async () => {
      if (existsSync(repository)) return
      // Old indexes name files of the former repository.
      await rm(indexes, { recursive: true, force: true })
      await makeRepository(program, repository, dataFolder)
    })
  }
  await refuseDamaged(repository)
  await ensureSettings(repository)
  await mkdir(indexes, { recursive: true, mode: 0o700 })
  return place
}

function gitOutside(dataFolder: string, workspace: string): string {
  try {
    return findProgram('git', { writable: inWorkspaces(workspace, dataFolder) })
  } catch (error) {
    throw new ToolError('EXECUTION_FAILED', `${(error as Error).message}; workspaces need git 2.36 or newer`)
  }
}

async function ensureSettings(repository: string): Promise<void> {
  await ensureText(join(repository, 'config'), CONFIG)
  await ensureText(join(repository, 'info', 'attributes'), ATTRIBUTES)
  await ensureText(join(repository, 'info', 'exclude'), EXCLUDED)
}

async function ensureText(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return
  await mkdir(dirname(path), { recursive: true })
  // The rename makes the change atomic: the git of another process may be reading the file.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, text)
  await rename(draft, path)
}

/** Makes the repository atomically. */
async function makeRepository(program: string, repository: string, dataFolder: string): Promise<void> {
  const draft = `${repository}.${randomBytes(6).toString('hex')}`
  const args = ['init', '-q', '--bare', '--template=', '--object-format=sha256']
  try {
    await mkdir(draft, { mode: 0o700 })
    await git({ program, repository: draft, index: `${draft}/index`, workTree: dataFolder, bare: true }, args)
    await ensureSettings(draft)
    await rename(draft, repository)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Checks only two files, because each opened run does this. */
async function refuseDamaged(repository: string): Promise<void> {
  const expected = [
    ['HEAD', /^ref: refs\//],
    ['config', /objectformat = sha256/i],
  ] as const
  for (const [name, content] of expected) {
    const text = await readFile(join(repository, name), 'latin1').catch((error: Error) => error)
    if (typeof text !== 'string') throw versionsDamaged(repository, text)
    if (!content.test(text)) throw versionsDamaged(repository, new Error(`${name} is not as it was written`))
  }
}

/** The error for an unusable repository. */
export const versionsDamaged = (repository: string, cause: Error): WorkspaceError =>
  new WorkspaceError(
    'VERSIONS_DAMAGED',
    `the shadow versions in ${repository} are damaged (${cause.message}); restore that folder from a backup, or move it ` +
      'away: keepup then makes a new one, and the files of earlier steps are lost',
    { cause },
  )

/** Git's id for the bytes of a file. */
export function blobId(bytes: Uint8Array): string {
  return createHash('sha256').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Stores one blob durably without git, which is several times faster for a few blobs. */
export async function storeBlob(place: GitPlace, bytes: Uint8Array): Promise<void> {
  const id = blobId(bytes)
  const folder = join(place.repository, 'objects', id.slice(0, 2))
  const path = join(folder, id.slice(2))
  if (existsSync(path)) return
  await mkdir(folder, { recursive: true })
  const temporary = join(folder, `tmp_obj_${randomBytes(6).toString('hex')}`)
  const packed = await compress(Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), { level: 1 })
  await writeFile(temporary, packed, { mode: 0o444, flush: true, flag: 'wx' })
  await rename(temporary, path)
  await syncNames(folder)
}

const compress = promisify<Buffer, { level: number }, Buffer>(deflate)

/** Stores many blobs durably with one git process. */
export async function storeBlobs(place: GitPlace, blobs: AsyncIterable<Uint8Array>): Promise<void> {
  const commands = async function* () {
    for await (const bytes of blobs) {
      yield Buffer.from(`blob\ndata ${bytes.length}\n`)
      yield bytes
      yield Buffer.from('\n')
    }
  }
  try {
    await git(place, ['fast-import', '--quiet', '--done'], { input: withEnd(commands()) })
  } catch (error) {
    await removeCrashReports(place)
    throw error
  }
}

/** Removes the crash reports of a failed fast-import, because they contain its input. */
async function removeCrashReports({ repository }: GitPlace): Promise<void> {
  const names = await readdir(repository).catch(() => [])
  for (const name of names) if (name.startsWith('fast_import_crash_')) await rm(join(repository, name), { force: true })
}

async function* withEnd(commands: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* commands
  yield Buffer.from('done\n')
}

/** Reads blobs one after the other. Keeps one at a time in memory. */
export async function* readBlobs(place: GitPlace, ids: Iterable<string>): AsyncIterable<Buffer> {
  const args = ['cat-file', '--batch']
  const child = startGit(place, args)
  const ended = exitOf(child, place, args)
  child.stdin.on('error', () => {})
  const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer[] = []
  let size = 0
  const more = async () => {
    const { value, done } = await chunks.next()
    if (done) {
      const { code, said } = await ended
      throw new GitFailure(args, code, said)
    }
    held.push(value)
    size += value.length
  }
  const take = async (length: number): Promise<Buffer> => {
    while (size < length) await more()
    const all = Buffer.concat(held)
    held = [all.subarray(length)]
    size -= length
    return all.subarray(0, length)
  }
  try {
    for (const id of ids) {
      child.stdin.write(`${id}\n`)
      let header = ''
      while (!header.endsWith('\n')) header += (await take(1)).toString('latin1')
      const found = /^[0-9a-f]+ blob (\d+)\n$/.exec(header)
      if (!found)
        throw new ToolError(
          'EXECUTION_FAILED',
          `the shadow versions lack a file (${header.trim()}); restore ${place.repository} from a backup`,
        )
      const bytes = await take(Number(found[1]))
      await take(1)
      yield bytes
    }
  } finally {
    child.stdin.end()
    child.kill()
    await ended
  }
}

/** The ids of stored blobs with references instead of secrets, one per line. The file only grows. */
export function redactedBlobs(place: GitPlace) {
  const file = join(place.repository, 'redacted')
  let known: Promise<Set<string>> | null = null
  const load = () => {
    known ??= readFile(file, 'latin1').then(
      (text) => new Set(text.split('\n').filter((line) => line.length === 64)),
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return new Set<string>()
        throw error
      },
    )
    return known
  }
  return {
    has: async (id: string): Promise<boolean> => (await load()).has(id),
    add: async (ids: readonly string[]): Promise<void> => {
      const set = await load()
      const fresh = ids.filter((id) => !set.has(id))
      if (fresh.length === 0) return
      await appendFile(file, `\n${fresh.join('\n')}\n`, { mode: 0o600, flush: true })
      for (const id of fresh) set.add(id)
    },
  }
}
