import { closeSync, constants as fsConstants, openSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { OpenFolders, withFolder } from './open-folder.ts'

/** The run time after which a pipe may be blocking git, in ms. */
const PATIENCE_MS = 500
/** The time for git to move from one pipe to the next, in ms. */
const STEP_MS = 5
const IDLE_STEPS = 4

/** Files that git opens by name, regardless of their type. */
const OPENED = new Set(['.gitignore', '.gitattributes'])

/**
 * Unblocks git if it reads a named pipe instead of a file (`mkfifo .gitignore`). Opens the pipe for writing and closes
 * it, so that git reads it as empty. Leaves other pipes alone, and searches only when git takes long. Returns a
 * function that stops this.
 */
export function releasePipes(workTree: string): () => void {
  const done = new AbortController()
  void keepReleasing(workTree, done.signal).catch(() => {})
  return () => done.abort()
}

async function keepReleasing(workTree: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(PATIENCE_MS, undefined, { signal, ref: false })
    const pipes: Pipe[] = []
    for await (const pipe of pipesBeneath(workTree, [], false)) {
      signal.throwIfAborted()
      pipes.push(pipe)
    }
    for (let idle = 0; idle < IDLE_STEPS && pipes.length > 0; idle++) {
      if (pipes.map((pipe) => release(workTree, pipe)).includes(true)) idle = 0
      await sleep(STEP_MS, undefined, { signal, ref: false })
    }
  }
}

interface Pipe {
  /** The names of the folders above the pipe. */
  readonly above: readonly Buffer[]
  readonly name: Buffer
}

/** Opens a pipe for writing and closes it. True: a reader was waiting. */
function release(workTree: string, { above, name }: Pipe): boolean {
  const folders = new OpenFolders(workTree)
  try {
    const path = folders.enter(above).at(name)
    closeSync(openSync(path, fsConstants.O_WRONLY | fsConstants.O_NONBLOCK | fsConstants.O_NOFOLLOW))
    return true
  } catch {
    return false
  } finally {
    folders.close()
  }
}

async function* pipesBeneath(workTree: string, above: readonly Buffer[], inGit: boolean): AsyncGenerator<Pipe> {
  const entries = await withFolder(workTree, above, {}, (folder) =>
    readdir(folder.at('.'), { withFileTypes: true, encoding: 'buffer' }),
  ).catch(() => [])
  for (const entry of entries) {
    const name = entry.name.toString('latin1')
    if (entry.isFIFO() && (inGit || OPENED.has(name))) yield { above, name: entry.name }
    else if (entry.isDirectory() && name !== 'node_modules' && !(inGit && name === 'objects'))
      yield* pipesBeneath(workTree, [...above, entry.name], inGit || name === '.git')
  }
}
