import { type Refused, refusal } from '../../http/answers.ts'
import type { Context } from '../context.ts'
import { ALTERED } from './event-row.ts'
import { safe } from './text.ts'

/** Requests the whole result of a call from the API. */
export async function askResult(ctx: Pick<Context, 'backend'>, toolCallId: string): Promise<Response> {
  const url = `http://localhost/v1/results/${encodeURIComponent(toolCallId)}`
  return (await ctx.backend('read')).fetch(new Request(url))
}

/** Decodes UTF-8 text piece by piece. `shown`: sanitizes a piece. */
export async function* pieces(
  body: AsyncIterable<Uint8Array>,
  shown: (text: string) => string,
): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  let held = ''
  for await (const bytes of body) {
    const text = held + utf8.decode(bytes, { stream: true })
    // Keep CR and LF of one line end in the same piece.
    held = text.endsWith('\r') ? '\r' : ''
    yield shown(held === '' ? text : text.slice(0, -1))
  }
  yield shown(held + utf8.decode())
}

/**
 * Prints the whole result of a call as indented lines, or the reason why it is not available. True: the stored result
 * is altered or missing.
 */
export async function flowWhole(ctx: Pick<Context, 'backend' | 'flow'>, toolCallId: string): Promise<boolean> {
  const response = await askResult(ctx, toolCallId)
  if (!response.ok || response.body === null) {
    const refused = await refusal(response)
    const said = WHY[refused.code]
    if (said === undefined) throw refused
    await ctx.flow(`    ${said}\n`)
    return refused.code !== 'BODY_ERASED'
  }
  await ctx.flow('    ')
  for await (const text of pieces(response.body, safe)) await ctx.flow(text.replaceAll('\n', '\n    '))
  await ctx.flow('\n')
  return false
}

const WHY: Readonly<Record<Refused['code'], string>> = {
  BODY_ERASED: '(erased)',
  LOG_CORRUPT: ALTERED,
  BLOB_MISSING: '(the whole result is missing; restore it from a backup)',
}
