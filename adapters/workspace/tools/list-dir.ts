import { z } from 'zod'
import { byteLength, RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'

const ENTRY_BYTES = RESULT_BYTES - 512
/** Folders that are listed but not entered: they are large and rarely of interest. */
const CLOSED = new Set(['.git', 'node_modules'])

export const listDirTool = defineTool({
  name: 'list_dir',
  description:
    'List a folder of the workspace: path, type and size of each entry. With depth, the folders below it too ' +
    '(.git and node_modules are named but not gone into).',
  parameters: z.strictObject({
    path: wellFormedText.optional().describe('Folder relative to the workspace. Default: the workspace itself'),
    depth: z.int().min(1).max(5).optional().describe('How many levels to list. Default: 1'),
  }),
  effect: 'pure',
  paths: { path: 'list' },
  timeLimitMs: 30_000,
  async run({ path = '.', depth = 1 }, context) {
    const workspace = workspaceOf(context)
    const entries: JsonObject[] = []
    let size = 0
    let truncated = false
    const list = async (folder: string, level: number): Promise<void> => {
      context.signal.throwIfAborted()
      for (const { name, type, size: bytes } of await workspace.list(folder)) {
        if (truncated) return
        const inner = folder === '.' ? name : `${folder}/${name}`
        const entry: JsonObject = type === 'file' ? { path: inner, type, size: bytes } : { path: inner, type }
        size += byteLength(JSON.stringify(entry)) + 1
        if (size > ENTRY_BYTES) truncated = true
        else entries.push(entry)
        if (type === 'dir' && level < depth && !CLOSED.has(name)) await list(inner, level + 1)
      }
    }
    await list((await workspace.resolve(path)) || '.', 1)
    const more = truncated ? { note: 'more entries are left out; list a folder below, or less depth' } : {}
    return { content: { entries, truncated, ...more } }
  },
})
