import type { AGUIEvent, Message } from '@ag-ui/core'
import { z } from 'zod'
import { Id } from '../schemas.ts'

// The wire of AG-UI 1.0 (ag-ui.com/spec/1.0). Members that keepup does not read are accepted, as the protocol requires.

/** Replaces the string enum of the package by its texts. */
type AsJson<E> = E extends { type: infer T extends string } ? Omit<E, 'type'> & { readonly type: `${T}` } : never

/** An event of AG-UI. */
export type AgUiEvent = AsJson<AGUIEvent>
/** A message of a conversation. */
export type AgUiMessage = Message

const Part = z.looseObject({ type: z.string(), text: z.string().optional() })

const InputMessage = z.looseObject({
  id: Id,
  role: z.enum(['developer', 'system', 'assistant', 'user', 'tool', 'activity', 'reasoning']),
  content: z.union([z.string(), z.array(Part), z.record(z.string(), z.unknown())]).optional(),
})
export type InputMessage = z.infer<typeof InputMessage>

const Answer = z.looseObject({
  interruptId: z.string().min(1).max(1000),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
})
export type InterruptAnswer = z.infer<typeof Answer>

/** The body of a request (`RunAgentInput`). */
export const RunAgentInput = z
  .looseObject({
    threadId: Id.meta({ description: 'The conversation; or the id of a run, to continue it' }),
    runId: Id.meta({ description: "The client's own name for this request; events repeat it" }),
    parentRunId: Id.optional(),
    messages: z.array(InputMessage).max(10_000),
    state: z.unknown().optional().meta({ description: 'An object: the context variables of a run that starts' }),
    tools: z.array(z.looseObject({ name: z.string() })).optional(),
    context: z.array(z.looseObject({ description: z.string(), value: z.string() })).optional(),
    forwardedProps: z
      .unknown()
      .optional()
      .meta({ description: 'In `keepup`: the settings of a run that starts, as in POST /v1/runs' }),
    resume: z.array(Answer).max(100).optional().meta({ description: 'Answers to the interrupts of the run' }),
  })
  .meta({ id: 'RunAgentInput' })
export type RunAgentInput = z.infer<typeof RunAgentInput>
