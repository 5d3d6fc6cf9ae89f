import { z } from 'zod'
import { ToolError } from '../../../domain/calls/errors.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Write a text file of the workspace, replacing it as a whole if it exists. Folders are made as needed. Nothing in ' +
    '.git can be written.',
  parameters: z.strictObject({
    path: wellFormedText.min(1).describe('Path relative to the workspace, e.g. "src/index.ts"'),
    content: wellFormedText.describe('The complete new content of the file'),
  }),
  effect: 'reconcilable',
  paths: { path: 'write' },
  timeLimitMs: 30_000,
  async run({ path, content }, context) {
    const workspace = workspaceOf(context)
    const bytes = new TextEncoder().encode(content)
    const { created } = await workspace.write(path, bytes)
    const real = await workspace.resolve(path)
    return {
      content: { path: real, bytes: bytes.length, created },
      changed: [real],
      created: created ? [real] : [],
      detail: { sha256: sha256(bytes) },
    }
  },
  async probe({ path, content }, context) {
    const workspace = workspaceOf(context)
    const bytes = new TextEncoder().encode(content)
    const found = await workspace.read(path).catch((error: unknown) => {
      if (error instanceof ToolError && (error.code === 'RESOURCE_NOT_FOUND' || error.code === 'CONFLICT')) return null
      throw error
    })
    const hash = sha256(bytes)
    if (found === null || sha256(found) !== hash) return { found: 'absent' }
    const real = await workspace.resolve(path)
    // The probe cannot know whether the file existed before, so `created` is missing.
    const result = { content: { path: real, bytes: bytes.length }, changed: [real], detail: { sha256: hash } }
    return { found: 'happened', result }
  },
})
