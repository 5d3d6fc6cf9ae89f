import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The steps of a fake agent in their order. After the last step the agent exits with 0. */
export type Step =
  | { readonly do: 'print'; readonly text: string; readonly times?: number }
  /** Writes the bytes in pieces, each in a separate turn of the event loop. */
  | { readonly do: 'bytes'; readonly base64: string; readonly piece: number }
  | { readonly do: 'long-line'; readonly bytes: number; readonly ended: boolean }
  | { readonly do: 'ignore-signals' }
  /**
   * Starts a process that leaves the group and the session, ignores signals and keeps stdout open. Writes the pid to
   * the file.
   */
  | { readonly do: 'grandchild'; readonly pidFile: string }
  /** Reads stdin to the end. Writes arguments, environment, folder and stdin to the file as JSON. */
  | { readonly do: 'record'; readonly file: string }
  | { readonly do: 'close-output' }
  | { readonly do: 'wait'; readonly ms: number }
  /** Waits until the file exists. */
  | { readonly do: 'await-file'; readonly file: string }
  | { readonly do: 'hang' }
  | { readonly do: 'exit'; readonly code: number }
  | { readonly do: 'die'; readonly signal: NodeJS.Signals }

/** Makes a program in a folder that plays these steps. Returns the program's absolute path. */
export function fakeProgram(folder: string, steps: readonly Step[]): string {
  const file = import.meta.url.endsWith('.ts') ? 'fake-agent.ts' : 'fake-agent.js'
  const [agent, play, program] = [file, 'steps.json', 'agent'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  // A confined program sees its own folder, but not the folder of this file.
  copyFileSync(fileURLToPath(new URL(file, import.meta.url)), agent)
  writeFileSync(play, JSON.stringify(steps))
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${agent}' '${play}' "$@"\n`)
  chmodSync(program, 0o755)
  return program
}
