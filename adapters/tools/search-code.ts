import { z } from 'zod'
import { byteLength, RESULT_BYTES } from '../../domain/agent/bounded.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import { wellFormed } from '../../domain/log/well-formed.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'

const MATCH_BYTES = RESULT_BYTES - 512
const MAX_MATCHES = 300
/** Lines from this length on were cut to a window, whose edges may have gone through a secret. In characters. */
const CUT_LINE = 2_000
const EDGE = 300

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
    const found = await workspaceOf(context).search(search, context.signal)
    const matches: JsonObject[] = []
    let size = 0
    for (const { path: file, line, text } of found.matches) {
      const safe = context.redact ? context.redact(text) : text
      const shown = wellFormed(text.length >= CUT_LINE ? `…${safe.slice(EDGE, -EDGE)}…` : safe)
      const match = { path: file, line, text: shown }
      size += byteLength(JSON.stringify(match)) + 1
      if (size > MATCH_BYTES) break
      matches.push(match)
    }
    const truncated = found.truncated || matches.length < found.matches.length
    const more = truncated ? { note: 'not everything is shown; narrow the query, the path or the glob' } : {}
    return { content: { matches, truncated, ...more } }
  },
})
