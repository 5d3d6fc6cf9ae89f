import { PassThrough } from 'node:stream'
import type { CliIo } from '../../api/cli/context.ts'

// Colours, cursor movements and what else is drawn rather than said.
const DRAWN = /\u001b\[[0-9;?]*[A-Za-z]/g

/** A terminal in this process: its keyboard and its screen, as the streams of a command line. */
export function fakeTerminal() {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keyboard })
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 40 })
  let shown = ''
  let looked = 0
  screen.on('data', (chunk: Buffer) => {
    shown += chunk.toString().replace(DRAWN, '')
    screen.emit('shown')
  })
  return {
    streams: { stdin: keyboard as unknown as NodeJS.ReadStream, stderr: screen as unknown as CliIo['stderr'] },
    shown: () => shown,
    type: (keys: string) => void keyboard.write(keys),
    /** Resolves when the screen has shown this after what was looked for before. */
    async sees(text: string): Promise<void> {
      for (let at = shown.indexOf(text, looked); ; at = shown.indexOf(text, looked)) {
        if (at >= 0) {
          looked = at + text.length
          return
        }
        await new Promise((resolve) => screen.once('shown', resolve))
      }
    },
  }
}
