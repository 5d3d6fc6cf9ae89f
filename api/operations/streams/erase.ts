import { z } from 'zod'
import { access } from '../../../domain/access/kind.ts'
import { kindOf } from '../../../domain/log/owner.ts'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { StartHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import { notFound, Problem } from '../problem.ts'
import { untilShown } from '../runs/idempotency.ts'
import { mustWrite } from '../runs/record-command.ts'
import { By } from '../schemas.ts'
import { askerOf } from './record.ts'
import { StreamParam } from './schemas.ts'

/** Kinds with an erasure and a right of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  agent: 'POST /v1/runs/{id}/erase',
  external: 'POST /v1/runs/{id}/erase',
  document: 'POST /v1/documents/{id}/erase',
  memory: 'POST /v1/memories/{id}/forget and "erase": true',
  context: 'POST /v1/context-stores/{store}/erase',
}

const EraseStream = z
  .strictObject({
    code: ErasureCode.optional(),
    reason: z.string().trim().min(1).max(1000),
    revision: z.int().nonnegative().optional().meta({ description: 'Only the body of this event' }),
    dryRun: z.boolean().default(false).meta({ description: 'Only say what would be erased' }),
    by: By.optional(),
  })
  .meta({ id: 'EraseStream' })

const StreamErased = z
  .strictObject({
    stream: z.string(),
    revision: z.int(),
    recorded: z.boolean(),
    bodies: z.array(z.strictObject({ revision: z.int(), type: z.string(), size: z.int() })).optional(),
  })
  .meta({ id: 'StreamErased' })

export const eraseStream = operation({
  name: 'eraseStream',
  http: 'POST /v1/streams/{stream}/erase',
  right: 'streams.erase',
  summary: 'Empty the texts of a stream in the log for ever; embedded only',
  input: { params: StreamParam, headers: StartHeaders, body: EraseStream },
  output: StreamErased,
  answers: { 200: 'Erased' },
  async run(s, { params: { stream }, body }, caller) {
    const { code, reason, revision, dryRun, by } = body
    const other = ELSEWHERE[kindOf(stream)]
    if (other !== undefined) throw new Problem('NOT_ERASABLE', `${stream} is erased with ${other}`)
    if ((await s.log.head(stream)) === null) throw notFound('stream', stream, 'GET /v1/streams lists them')
    const which = revision === undefined ? ({ all: true } as const) : { revision }
    if (dryRun) {
      const found = await s.streams.erasable(stream, which)
      const bodies = found.bodies.map(({ revision, type, size }) => ({ revision, type, size }))
      return { stream, revision: found.revision, recorded: false, bodies }
    }
    mustWrite(s)
    const done = await s.streams.erase(
      stream,
      which,
      { code, reason },
      await askerOf(s, caller, by, { stream, ...body }),
    )
    if (kindOf(stream) === access.kind) {
      s.access.forget()
      s.keeping.forget()
    }
    await untilShown(s)
    return { stream, ...done }
  },
})
