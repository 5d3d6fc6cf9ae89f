import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

/** The descriptor for bubblewrap's reports about the command. */
export const STATUS = 3

/** The reports of bubblewrap so far. */
export interface Status {
  /** The pid of the namespace's first process, outside the namespace. */
  child: number | null
  /** The command has started and ended. */
  exited: boolean
}

/** Updates a status, and calls `onChild` when the child's pid is known. */
export function readStatus(child: ChildProcess, status: Status, onChild: () => void): void {
  let text = ''
  const pipe = child.stdio[STATUS] as Readable
  pipe.on('error', () => {})
  pipe.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
    const inner = /"child-pid":\s*(\d+)/.exec(text)?.[1]
    if (text.includes('"exit-code"')) status.exited = true
    if (inner === undefined || status.child !== null) return
    status.child = Number(inner)
    onChild()
  })
}
