import { closeSync, constants as fsConstants, openSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** A git that takes longer may be waiting at a pipe. In ms. */
const PATIENCE_MS = 500
/** How long git is given to get from one pipe to the next. In ms. */
const STEP_MS = 5
const IDLE_STEPS = 4

/** Files that git opens by their names alone, whatever they are. */
const OPENED = new Set(['.gitignore', '.gitattributes'])

/**
 * Until what it returns is called, lets git go on where it waits at a named pipe in place of a file of its own (`mkfifo
 * .gitignore`): the pipe is opened for writing and closed again, so that git finds it empty. Other pipes are left alone.
 * Nothing is looked for unless git takes long.
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

/** True where somebody waited at the pipe. */
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
