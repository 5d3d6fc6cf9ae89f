import { spawn } from 'node:child_process'

const PYTHON = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(['sh', '-c', 'stty ' + sys.argv[1] + '; exec "$@"', 'sh'] + sys.argv[2:])))
`

// Control sequences: colours and cursor movements.
const DRAWN = /\u001b\[[0-9;?]*[A-Za-z]/g

/** A command at a separate terminal. */
export function atTerminal(
  command: readonly string[],
  options: { cwd: string; env: Record<string, string>; size?: string },
) {
  const child = spawn('python3', ['-c', PYTHON, options.size ?? 'cols 100 rows 40', ...command], {
    cwd: options.cwd,
    env: { ...options.env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  let looked = 0
  let over = false
  let look = () => {}
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString().replace(DRAWN, '')
    look()
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      over = true
      look()
      resolve(code)
    })
  })
  return {
    shown: () => shown,
    ended,
    kill: () => child.kill('SIGKILL'),
    type: (keys: string) => void child.stdin.write(keys),
    /** Resolves when the terminal shows this text after the previous match. */
    async sees(text: string): Promise<void> {
      for (;;) {
        const at = shown.indexOf(text, looked)
        if (at >= 0) {
          looked = at + text.length
          return
        }
        if (over) throw new Error(`ended without showing "${text}":\n${shown}`)
        await new Promise<void>((resolve) => {
          look = resolve
        })
      }
    },
  }
}
