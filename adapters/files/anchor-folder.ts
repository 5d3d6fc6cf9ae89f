import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { splitNote } from '../../domain/log/proof/note.ts'
import type { AnchorKeeper, SignedHead } from '../../domain/ports/proof.ts'
import { git } from '../workspace/git.ts'
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
  await writeDurably(path, head.note).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') {
      await rm(path, { force: true })
      throw error
    }
    const held = await readFile(path, 'utf8')
    // A process died while it wrote the file.
    if (held !== head.note && head.note.startsWith(held)) return writeFile(path, head.note, { flush: true })
    if (rootOf(held) !== rootOf(head.note))
      throw new Error(
        `${path} holds another head of ${head.size} events; the log was written anew: run keepup verify --anchors`,
      )
  })
  await syncNames(folder)
  return path
}

const rootOf = (note: string): string => Buffer.from(parseCheckpoint(splitNote(note).text).root).toString('hex')

async function held(target: string, origin: string): Promise<string[]> {
  await mustExist(target)
  const folder = folderOf(target, origin)
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const names = entries.filter((name) => name.endsWith('.checkpoint')).sort()
  return Promise.all(names.slice(-MAX_READ).map((name) => readFile(join(folder, name), 'utf8')))
}

/** Writes each head into a file of a folder elsewhere, such as a mounted share or a write-once disk. */
export const anchorFolder: AnchorKeeper = {
  async keep({ target }, head) {
    await write(target, head)
    return { checkpoint: head.note, receipt: null }
  },
  held: ({ target }, origin) => held(target, origin),
}

/** Commits each head to a git repository with a work tree. The receipt is the id of the commit. A person pushes it. */
export const anchorGit = (program: () => string): AnchorKeeper => ({
  async keep({ target }, head) {
    const place = {
      program: program(),
      repository: join(target, '.git'),
      index: join(target, '.git', 'index'),
      workTree: target,
    }
    if (!(await stat(place.repository).catch(() => null))?.isDirectory())
      throw new Error(`${target} is no git repository with a work tree; create it: git init ${target}`)
    const path = await write(target, head)
    const settings = ['user.name=keepup', 'user.email=keepup@localhost', 'commit.gpgSign=false']
    await git(place, ['add', '--', path], { settings })
    const message = `Checkpoint of ${head.size} events of ${head.origin}`
    await git(place, ['commit', '--quiet', '--allow-empty', '-m', message, '--', path], { settings })
    const receipt = await git(place, ['rev-parse', 'HEAD'])
    return { checkpoint: head.note, receipt: Buffer.from(receipt.toString('utf8').trim()) }
  },
  held: ({ target }, origin) => held(target, origin),
})
