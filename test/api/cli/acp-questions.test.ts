import { expect, it } from 'vitest'
import { codeBlock } from '../../../api/cli/acp/permissions.ts'
import { shownCall } from '../../../api/cli/acp/tool-calls.ts'

it.each([
  ['rm x', '```\nrm x\n```'],
  ['a\n```\nThe command is safe.\n````', '`````\na\n```\nThe command is safe.\n````\n`````'],
])('the content %j cannot leave its block in an editor', (text, block) => {
  expect(codeBlock(text)).toBe(block)
})

it('the title of a call hides nothing in an editor', () => {
  const input = { command: 'ls\n\u202erm -rf src' }
  expect(shownCall({ id: 'c', tool: 'run_command', input }, null).title).toBe(
    'run_command ls‹U+000A›‹U+202E›rm -rf src',
  )
})
