import { z } from 'zod'
import { byteLength, RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { SearchMatch } from '../../../domain/ports/index.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'
import { safeLines } from './safe-lines.ts'

const MATCH_BYTES = RESULT_BYTES - 512
const MAX_MATCHES = 300
export const searchCodeTool = defineTool({
  name: 'search_code',
  description:
    'Search the text files of the workspace line by line, for a literal text or a regular expression (JavaScript ' +
    'syntax). Files ignored by git, binaries and .git are left out. Results are in path order.',
  parameters: z.strictObject({
    query: wellFormedText.min(1).describe('What to look for, within one line'),
    regex: z.boolean().optional().describe('The query is a regular expression. Default: false'),
    path: wellFormedText.optional().describe('Folder or file to search in. Default: the workspace'),
    glob: wellFormedText.min(1).optional().describe('Only files like this, e.g. "*.ts" or "src/**/*.test.ts"'),
    caseSensitive: z.boolean().optional().describe('Default: true'),
  }),
  effect: 'pure',
  paths: { path: 'list' },
  timeLimitMs: 30_000,
  async run({ query, regex = false, path = '.', glob, caseSensitive = true }, context) {
    const search = { pattern: query, regex, path, caseSensitive, limit: MAX_MATCHES, ...(glob ? { glob } : {}) }
    const workspace = workspaceOf(context)
    const found = await workspace.search(search, context.signal)
    const shown = context.redact ? safeLines(workspace, context.redact) : async (match: SearchMatch) => match.text
    const matches: JsonObject[] = []
    let size = 0
    for (const one of found.matches) {
      context.signal.throwIfAborted()
      const match = { path: one.path, line: one.line, text: await shown(one) }
      size += byteLength(JSON.stringify(match)) + 1
      if (size > MATCH_BYTES) break
      matches.push(match)
    }
    const truncated = found.truncated || matches.length < found.matches.length
    const more = truncated ? { note: 'not everything is shown; narrow the query, the path or the glob' } : {}
    return { content: { matches, truncated, ...more } }
  },
})
