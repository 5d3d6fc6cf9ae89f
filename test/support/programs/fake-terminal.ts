import { PassThrough } from 'node:stream'
import type { CliIo } from '../../../api/cli/context.ts'

// Control sequences: colours and cursor movements.
const DRAWN = /\u001b\[[0-9;?]*[A-Za-z]/g

/** An in-process terminal: its keyboard and screen, as the streams of a command line. */
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
    /** Resolves when the screen shows this text after the previous match. */
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
