import { expect, test } from 'vitest'
import { desktopNotice, notifyPerson, terminalNotice } from '../../../api/cli/notify.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'

const CONTROL = /[\u0000-\u0006\u0008-\u001a\u001c-\u001f\u007f-\u009f]/

/** What a terminal or a pipe is written. */
function written({ isTTY = true, notices = 'on' }: { isTTY?: boolean; notices?: string }): string {
  const out: string[] = []
  const stderr = { isTTY, write: (text: string) => void out.push(text) }
  const io = {
    stderr,
    stdout: stderr,
    stdin: process.stdin,
    env: {},
    cwd: '/',
    open: openServices,
    program: 'keepup',
  }
  notifyPerson({ io, config: ConfigSchema.parse({ data: '/d', notices }) }, 'keepup', 'r1 waits')
  return out.join('')
}

test('only a terminal is notified, and only where notices are on', () => {
  expect(written({})).toBe(terminalNotice('keepup', 'r1 waits'))
  expect(written({ isTTY: false })).toBe('')
  expect(written({ notices: 'off' })).toBe('')
})

test('a text cannot end the notice or add parts to it', () => {
  const text = terminalNotice('a;b', 'x\u0007\u001b]0;y\u001b\\z\nw')
  expect(text.match(/\u0007/g)).toHaveLength(3)
  expect(text.match(/\u001b/g)).toHaveLength(2)
  expect(text).not.toMatch(CONTROL)
  expect(text.split(';')).toHaveLength(5)
})

test('a desktop is told with arguments, never through a shell or a script made of texts', () => {
  const said = ['-t', '" & do shell script "x'] as const
  const linux = desktopNotice(said, { env: { DISPLAY: ':0' }, platform: 'linux' })
  expect(linux).toEqual(['notify-send', ['--app-name=keepup', '--', ...said]])
  expect(desktopNotice(said, { env: {}, platform: 'linux' })).toBeNull()
  const [program, args] = desktopNotice(said, { env: {}, platform: 'darwin' })!
  expect(program).toBe('osascript')
  expect(args.slice(-2)).toEqual(said)
  expect(args.slice(0, -2).join()).not.toContain('do shell')
})
