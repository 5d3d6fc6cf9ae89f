import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { splitNote } from '../../domain/log/proof/note.ts'
import type { AnchorKeeper, AnchorPlace, SignedHead } from '../../domain/ports/proof.ts'
import { type GitPlace, git } from '../workspace/git.ts'
import { syncNames, writeDurably } from './durable.ts'

/** Checkpoints in the order of their sizes: `000000001000.checkpoint` covers 1,000 events. */
const nameOf = ({ size }: SignedHead): string => `${String(size).padStart(12, '0')}.checkpoint`
/** The most checkpoints of a folder that are read, the latest ones. */
const MAX_READ = 10_000

/** The folder of an origin in a target. The characters of other file systems' paths are replaced. */
const folderOf = (target: string, origin: string): string => join(target, origin.replaceAll(/[^\w.-]+/g, '_'))

async function mustExist(target: string): Promise<void> {
  if (!(await stat(target).catch(() => null))?.isDirectory())
    throw new Error(`there is no folder ${target}; create it, or mount its disk`)
}

async function write(target: string, head: SignedHead): Promise<string> {
  await mustExist(target)
  const folder = folderOf(target, head.origin)
  await mkdir(folder, { recursive: true })
  const path = join(folder, nameOf(head))
  const held = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  // The beginning of the note is left of a write that a full disk or an older program broke off.
  if (held === null || head.note.startsWith(held)) await replace(path, head.note)
  else if (rootOf(held) !== rootOf(head.note))
    throw new Error(
      `${path} holds another head of ${head.size} events; the log was written anew: run keepup verify --anchors`,
    )
  await syncNames(folder)
  return path
}

/** Writes a whole file or none: an unfinished write has a name that no reader takes for a checkpoint. */
async function replace(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await rm(unfinished, { force: true })
  try {
    await writeDurably(unfinished, text)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

const rootOf = (note: string): string => Buffer.from(parseCheckpoint(splitNote(note).text).root).toString('hex')

/** The paths of the checkpoints of an origin, the largest last. */
async function checkpoints(target: string, origin: string): Promise<string[]> {
  await mustExist(target)
  const folder = folderOf(target, origin)
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const names = entries.filter((name) => name.endsWith('.checkpoint')).sort()
  return names.slice(-MAX_READ).map((name) => join(folder, name))
}

async function held({ target }: AnchorPlace, origin: string): Promise<string[]> {
  return Promise.all((await checkpoints(target, origin)).map((path) => readFile(path, 'utf8')))
}

async function* later({ target }: AnchorPlace, origin: string, size: number): AsyncGenerator<string> {
  for (const path of (await checkpoints(target, origin)).reverse()) {
    if (Number.parseInt(basename(path), 10) <= size) return
    yield await readFile(path, 'utf8')
  }
}

/** Writes each head into a file of a folder elsewhere, such as a mounted share or a write-once disk. */
export const anchorFolder: AnchorKeeper = {
  async keep({ target }, head) {
    await write(target, head)
    return { checkpoint: head.note, receipt: null }
  },
  held,
  later,
}

const gitPlace = (program: string, target: string): GitPlace => {
  const repository = join(target, '.git')
  return { program, repository, index: join(repository, 'index'), workTree: target }
}

async function mustBeRepository({ repository, workTree }: GitPlace): Promise<void> {
  if (!(await stat(repository).catch(() => null))?.isDirectory())
    throw new Error(`${workTree} is no git repository with a work tree; create it: git init ${workTree}`)
}

/** The committed checkpoints of an origin as git names them, the largest last. Files of the work tree do not count. */
async function committed(place: GitPlace, origin: string): Promise<string[]> {
  await mustBeRepository(place)
  const head = await git(place, ['rev-parse', '--quiet', '--verify', 'HEAD'], { allowed: [0, 1] })
  if (head.length === 0) return []
  const listed = await git(place, ['ls-tree', '-z', '--name-only', 'HEAD', '--', `${folderOf('', origin)}/`])
  const paths = listed.toString('utf8').split('\0')
  return paths
    .filter((path) => path.endsWith('.checkpoint'))
    .sort()
    .slice(-MAX_READ)
    .map((path) => `HEAD:${path}`)
}

/** The texts of committed files, read by one process. */
async function blobs(place: GitPlace, names: readonly string[]): Promise<string[]> {
  const input = names.map((name) => Buffer.from(`${name}\n`))
  const out = await git(place, ['cat-file', '--batch'], { input })
  const texts: string[] = []
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf('\n', at)
    const size = Number(out.subarray(at, end).toString('utf8').split(' ').at(-1))
    texts.push(out.subarray(end + 1, end + 1 + size).toString('utf8'))
    at = end + size + 2
  }
  return texts
}

/** Commits each head to a git repository with a work tree. The receipt is the id of the commit. A person pushes it. */
export const anchorGit = (program: () => string): AnchorKeeper => ({
  async keep({ target }, head) {
    const place = gitPlace(program(), target)
    await mustBeRepository(place)
    const path = await write(target, head)
    const settings = ['user.name=keepup', 'user.email=keepup@localhost', 'commit.gpgSign=false']
    await git(place, ['add', '--', path], { settings })
    const message = `Checkpoint of ${head.size} events of ${head.origin}`
    await git(place, ['commit', '--quiet', '--allow-empty', '-m', message, '--', path], { settings })
    const receipt = await git(place, ['rev-parse', 'HEAD'])
    return { checkpoint: head.note, receipt: Buffer.from(receipt.toString('utf8').trim()) }
  },
  async held({ target }, origin) {
    const place = gitPlace(program(), target)
    return blobs(place, await committed(place, origin))
  },
  async *later({ target }, origin, size) {
    const place = gitPlace(program(), target)
    for (const name of (await committed(place, origin)).reverse()) {
      if (Number.parseInt(basename(name), 10) <= size) return
      yield* await blobs(place, [name])
    }
  },
})
