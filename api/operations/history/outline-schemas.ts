import { z } from 'zod'
import { EventView } from '../events/schemas.ts'
import { Digits } from '../schemas.ts'

const revision = Digits.optional().meta({ type: 'integer', description: 'The first revision; 0 where it is absent' })
const most = (count: number, usual: number) =>
  Digits.pipe(z.int().min(1).max(count)).prefault(String(usual)).meta({ type: 'integer' })

export const OutlineQuery = z.strictObject({ from: revision, limit: most(50_000, 10_000) })

const column = z.array(z.int()).readonly()

/** Events of an agent's stream by revision, without bodies. The column format keeps a long history small. */
export const OutlineView = z
  .strictObject({
    agentId: z.string(),
    runId: z.string(),
    from: z.int().meta({ description: 'The revision of the first event' }),
    length: z.int().meta({ description: 'Events of the agent: the revision of its next one' }),
    inherited: z
      .strictObject({ agentId: z.string(), revision: z.int(), step: z.int() })
      .nullable()
      .meta({ description: 'Of a fork: the point of its source after which it goes on' }),
    names: z.array(z.string()).readonly().meta({ description: 'The types that occur' }),
    types: column.meta({ description: 'Places in `names`' }),
    turns: column.meta({ description: '0 outside of turns' }),
    times: column.meta({ description: 'Ms since the epoch' }),
    calls: column.meta({ description: 'The index of the tool call in its turn; -1: none' }),
    sizes: column.meta({ description: 'Bytes of the bodies' }),
    failed: column.meta({
      description: 'Revisions at which failed calls ended; a command fails with an exit code other than 0',
    }),
  })
  .meta({ id: 'Outline' })
export type OutlineView = z.infer<typeof OutlineView>

export const AgentEventsQuery = z.strictObject({
  from: revision,
  limit: most(500, 50),
  brief: z.enum(['true', 'false']).default('false').meta({ description: 'true: long texts are cut' }),
})

/** `next`: the revision of the following event; null: none yet. */
export const AgentEventPage = z
  .strictObject({ events: z.array(EventView), next: z.int().nullable() })
  .meta({ id: 'AgentEventPage' })
