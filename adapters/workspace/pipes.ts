import { closeSync, constants as fsConstants, openSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** The run time after which git may be blocked by a pipe. In ms. */
const PATIENCE_MS = 500
/** The time for git to move from one pipe to the next. In ms. */
const STEP_MS = 5
const IDLE_STEPS = 4

/** Files that git opens by name, of whatever type. */
const OPENED = new Set(['.gitignore', '.gitattributes'])

/**
 * Releases a git that is blocked by a named pipe in place of a file that git reads (`mkfifo .gitignore`): opens the pipe for
 * writing and closes it, so that git finds it empty. Leaves other pipes alone, and searches only when git takes long.
 * Returns a function that stops this.
 */
export function releasePipes(workTree: string): () => void {
  const done = new AbortController()
  void keepReleasing(workTree, done.signal).catch(() => {})
  return () => done.abort()
}

async function keepReleasing(workTree: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(PATIENCE_MS, undefined, { signal, ref: false })
    const pipes: Buffer[] = []
    for await (const pipe of pipesBeneath(Buffer.from(workTree), false)) {
      signal.throwIfAborted()
      pipes.push(pipe)
    }
    for (let idle = 0; idle < IDLE_STEPS && pipes.length > 0; idle++) {
      if (pipes.map(release).includes(true)) idle = 0
      await sleep(STEP_MS, undefined, { signal, ref: false })
    }
  }
}

/** Opens a pipe for writing and closes it. True where a reader waited. */
function release(pipe: Buffer): boolean {
  try {
    closeSync(openSync(pipe, fsConstants.O_WRONLY | fsConstants.O_NONBLOCK | fsConstants.O_NOFOLLOW))
    return true
  } catch {
    return false
  }
}

async function* pipesBeneath(folder: Buffer, inGit: boolean): AsyncGenerator<Buffer> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(() => [])
  for (const entry of entries) {
    const name = entry.name.toString('latin1')
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name])
    if (entry.isFIFO() && (inGit || OPENED.has(name))) yield path
    else if (entry.isDirectory() && name !== 'node_modules' && !(inGit && name === 'objects'))
      yield* pipesBeneath(path, inGit || name === '.git')
  }
}
