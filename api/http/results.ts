import { createRoute, z } from '@hono/zod-openapi'
import { agentOfCall, findResult, resultAt } from '../../domain/agent/runtime/history/results.ts'
import { LogError } from '../../domain/log/errors.ts'
import { notFound, Problem } from '../operations/problem.ts'
import { Id } from '../operations/schemas.ts'
import type { Services } from '../operations/services.ts'
import { newApp, refusals, written } from './new-app.ts'
import type { HttpCode } from './status.ts'
import { streamResponse } from './stream-response.ts'

const text = (description: string) => ({ description, content: { 'text/plain': { schema: z.string() } } })

const result = createRoute({
  method: 'get',
  path: '/v1/results/{toolCallId}',
  operationId: 'getToolResult',
  'x-keepup-right': 'bodies.read',
  summary: 'The whole result of a call that has ended, as text; what is no text, as JSON; of a failed call its message',
  description:
    'A `Range` of bytes gives a part of it. It is proved before it is sent (for parts, once in a process): one that was ' +
    'altered is refused with `LOG_CORRUPT`, one that was erased with 410 `BODY_ERASED`.',
  request: {
    params: z.object({ toolCallId: Id }),
    headers: z.object({ range: z.string().optional() }),
  },
  responses: { 200: text('The whole result'), 206: text('A part of it'), ...refusals },
})

/** The bytes that are asked for, `to` exclusive; null: all of them. A range that is not understood asks for all. */
function rangeOf(header: string | undefined, size: number): { from: number; to: number } | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') return { from: Math.max(0, size - Number(last)), to: size }
  const to = last === '' ? size : Math.min(size, Number(last) + 1)
  return to <= Number(first) && Number(first) < size ? null : { from: Number(first), to }
}

/** Whole results of calls. */
export function resultRoutes(s: Services) {
  return newApp().openapi(result, async (c) => {
    const { toolCallId } = c.req.valid('param')
    const agentId = agentOfCall(toolCallId)
    const found = agentId === null ? null : await findResult(s, agentId, toolCallId)
    if (found === null) throw notFound('result', toolCallId, 'look at the events of its run')
    if ('erased' in found) throw new LogError('BODY_ERASED', `the result of ${toolCallId} was erased`)
    const asked = c.req.valid('header').range
    const { size, parts } = await resultAt(s, found.end, asked === undefined)
    const range = rangeOf(asked, size)
    if (range !== null && range.from >= size)
      throw new Problem<HttpCode>(
        'RANGE_INVALID',
        `the result has ${size} bytes; ask for a range that begins before its end`,
      )
    const { from, to } = range ?? { from: 0, to: size }
    const headers = {
      'accept-ranges': 'bytes',
      'content-length': String(to - from),
      'x-content-type-options': 'nosniff',
      ...(range && { 'content-range': `bytes ${from}-${to - 1}/${size}` }),
    }
    const source = parts(from, to)[Symbol.asyncIterator]()
    return written(streamResponse(source, { format: 'text', status: range === null ? 200 : 206, headers }))
  })
}
