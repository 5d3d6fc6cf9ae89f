import { defineTool, z } from '../../api/library/tool-kit.ts'

const decoder = new TextDecoder()

/** Appends a line to TODO.md unless it is already the last line. */
export const addTodo = defineTool({
  name: 'todo:add',
  description: 'Add one line to TODO.md.',
  parameters: z.strictObject({ line: z.string().min(1), twice: z.boolean().default(false) }),
  effect: 'idempotent',
  timeLimitMs: 10_000,
  async run({ line, twice }, { workspace }) {
    if (workspace === null) throw new Error('no workspace')
    const before = (await workspace.exists('TODO.md')) ? decoder.decode(await workspace.read('TODO.md')) : ''
    const after = before.endsWith(`${line}\n`) ? before : `${before}${line}\n${twice ? `${line}\n` : ''}`
    const { created } = await workspace.write('TODO.md', new TextEncoder().encode(after))
    return {
      content: { lines: after.split('\n').length - 1 },
      changed: ['TODO.md'],
      created: created ? ['TODO.md'] : [],
    }
  },
})
