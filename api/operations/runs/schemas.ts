import { z } from 'zod'
import { ERASE_WHICH, MAX_ERASURE_REASON, namesBodiesOnce } from '../../../domain/agent/decide/commands.ts'
import { Milliseconds } from '../../../domain/log/time-span.ts'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { Budget } from '../../../domain/tree/spec.ts'
import { Ask } from '../approvals/schemas.ts'
import { Reused } from '../history/reused-schemas.ts'
import { AcceptedLoss } from '../losses/schemas.ts'
import {
  AnyJson,
  By,
  ErasedBody,
  FileChanged,
  Folder,
  Id,
  Money,
  Next,
  Position,
  Recorded,
  StreamHeads,
} from '../schemas.ts'
import { TextMatch } from '../search/schemas.ts'
import { Parked } from '../system/schemas.ts'

const count = z.int().nonnegative()
const AcceptedLosses = z
  .array(AcceptedLoss)
  .readonly()
  .meta({ description: 'Losses of the log that persons have accepted and that concern this run' })

/**
 * The usage of one agent, or the sum over a tree. Null: an external agent has not reported its tokens, or a call's cost
 * is unknown.
 */
export const Bill = z
  .strictObject({
    inputTokens: count.nullable(),
    outputTokens: count.nullable(),
    cacheReadTokens: count.nullable(),
    cacheWriteTokens: count.nullable(),
    ...Money,
    modelCalls: count,
    toolCalls: count,
    inDoubt: z.strictObject({ modelCalls: count, tokens: count, ...Money }).meta({
      description: 'The part of the above that is estimated: the ends of those model calls were not seen',
    }),
  })
  .meta({ id: 'Bill', description: 'What an agent has used; null: not known' })
export type Bill = z.infer<typeof Bill>

/**
 * A reason why a run waits. `toolCallId`: the call in question; null: none. After `model`, an outage of its models, the
 * run continues by itself.
 */
export const Waiting = z
  .strictObject({
    for: z.enum(['input', 'approval', 'doubt', 'pause', 'model']),
    agentId: z.string(),
    toolCallId: z.string().nullable(),
  })
  .meta({ id: 'Waiting', description: 'What a run waits for' })
export type Waiting = z.infer<typeof Waiting>

export const MachineState = z
  .enum(['IDLE', 'THINKING', 'TOOL_WAIT', 'OBSERVATION', 'RECOVERY', 'DONE', 'ERROR'])
  .meta({ id: 'MachineState', description: 'Where the agent stands in its state machine' })

export const RunStatus = z.enum(['active', 'recovering', 'completed', 'failed']).meta({
  id: 'RunStatus',
  description: 'How the run stands; one that was cancelled is failed, with the error CANCELLED',
})

export const Run = z
  .strictObject({
    runId: z.string(),
    agentId: z.string().meta({ description: 'Its root agent' }),
    status: RunStatus,
    machineState: MachineState,
    paused: z.boolean(),
    role: z.string().nullable(),
    phase: z.string().nullable(),
    model: z.string().nullable(),
    task: z.string().nullable(),
    workspace: z.string().nullable().meta({ description: 'The folder it works in' }),
    backend: z.string().nullable().meta({ description: "The kind of another agent; null: keepup's own" }),
    ungoverned: z.boolean().meta({ description: 'Our policy sees nothing of what the agent does' }),
    turn: count,
    step: count,
    revision: z.int(),
    createdAt: z.string(),
    updatedAt: z.string(),
    summary: z.string().nullable(),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    partialOutput: z.string().nullable().meta({ description: 'Of a run that failed: the last text of its model' }),
    unmetGates: z.array(z.string()).readonly(),
    tags: z.array(z.string()).readonly(),
    waiting: z.array(Waiting).readonly().meta({ description: 'All that it waits for, the most urgent first' }),
    own: Bill,
    total: Bill,
    source: z.strictObject({ agentId: z.string(), step: count }).nullable(),
    continues: z.string().nullable().meta({
      description: 'The ended run whose session this run of another agent continues; null: none',
    }),
    incomplete: z.boolean().meta({ description: 'Something could not be read; the figures may be too low' }),
    shortened: z
      .boolean()
      .meta({ description: 'The log holds less of it than was seen, and no person has accepted that' }),
    bytes: count.nullable().meta({ description: 'Stored bytes; null where they are not known' }),
    driving: z.boolean(),
    interrupted: z.boolean().nullable().meta({
      description:
        'It could go on and no process drives it: a process ended or was killed. null: not known here, where others may drive it',
    }),
  })
  .meta({ id: 'Run', description: 'A run as lists show it' })
export type Run = z.infer<typeof Run>

const Account = z.strictObject({
  given: count.nullable().meta({ description: 'At its birth and since; null: no limit' }),
  spent: count.meta({ description: 'By it and by children that have ended' }),
  reserved: count.meta({ description: 'Granted to children whose end is not known' }),
  uncertain: count.meta({ description: 'What late answers, and agents that nothing reaches, may still add' }),
})
const Books = z
  .strictObject({ tokens: Account, nanoDollars: Account, agents: Account })
  .meta({ id: 'Books', description: 'The budget of an agent, in tokens, money and agents' })

export const AgentNode = z
  .strictObject({
    agentId: z.string(),
    parentId: z.string().nullable(),
    depth: z.int().meta({ description: '0: the root agent; -1: not known' }),
    role: z.string().nullable(),
    task: z.string().nullable().meta({ description: 'The first 500 characters of its first input; null: none yet' }),
    backend: z.string().nullable().meta({ description: "The kind of another agent; null: keepup's own" }),
    ungoverned: z.boolean().meta({ description: 'Our policy sees nothing of what the agent does' }),
    phase: z.string().nullable(),
    status: RunStatus,
    machineState: MachineState,
    paused: z.boolean(),
    turn: count,
    step: count,
    code: z.string().nullable().meta({ description: 'Of one that failed' }),
    unmetGates: z.array(z.string()).readonly().meta({ description: 'Quality gates that did not hold at its end' }),
    unreached: z.boolean().meta({
      description: 'Its parent has gone on without it: it could not be read, or did not end in time',
    }),
    createdAt: z.string(),
    completedAt: z.string().nullable(),
    waiting: z.array(Waiting).readonly().meta({ description: 'All that this agent waits for' }),
    own: Bill,
    total: Bill,
    budget: Books.nullable().meta({ description: 'null: not known' }),
  })
  .meta({ id: 'AgentNode', description: 'An agent of a run as it stands now' })

export const RunTree = z
  .strictObject({
    position: Position,
    runId: z.string(),
    agents: z.array(AgentNode).readonly().meta({ description: 'Each one followed by those below it' }),
    recorded: z
      .array(
        z.strictObject({
          agentId: z.string(),
          parentId: z.string(),
          runId: z.string(),
          role: z.string().nullable(),
          status: RunStatus,
          code: z.string().nullable(),
        }),
      )
      .readonly()
      .meta({ description: 'Of a fork: children of its source that had ended before it; nothing drives them again' }),
  })
  .meta({ id: 'RunTree' })
/** The agents of a run, each with its state, use and budget. */
export type RunTree = z.infer<typeof RunTree>

export const RunList = z
  .strictObject({
    position: Position,
    runs: z.array(Run),
    damaged: z.record(z.string(), Parked).readonly().meta({
      description:
        'Runs that are not in `runs`, because their first event cannot be read, by their id, at most 20. Only on the first page without filters',
    }),
    matches: z.record(z.string(), TextMatch).readonly().meta({
      description: 'With "text": by run id, the newest text of an event that contains it',
    }),
    damagedCount: count.meta({ description: 'How many such runs there are; 0 on other pages' }),
    next: Next,
  })
  .meta({ id: 'RunList' })

export const RunDetail = z
  .strictObject({
    position: Position,
    run: Run,
    tree: z.array(AgentNode).readonly(),
    asks: z.array(Ask).readonly(),
    parked: z
      .array(Parked)
      .readonly()
      .meta({ description: 'Why it is incomplete: agents of it whose events the tables cannot take any further' }),
    acceptedLosses: AcceptedLosses,
    reuse: Reused.nullable().meta({ description: 'Of a fork that takes recorded outcomes; null: it takes none' }),
    restoring: z
      .strictObject({ step: z.int().nullable(), tree: z.string().nullable(), replaces: z.string().nullable() })
      .nullable()
      .meta({
        description: 'A restore of files that has not ended: it is at work, or its process was lost; null: none',
      }),
    continuable: z.boolean().meta({
      description: 'It is an ended run of another agent, and its session can be continued here with a further prompt',
    }),
    continuedBy: z.array(z.string()).readonly().meta({ description: 'The runs that continue its session' }),
    workersDrive: z.boolean().meta({
      description: 'On servers: it was started for any worker to drive, so that it goes on by itself where workers are',
    }),
    missingTools: z
      .array(z.string())
      .readonly()
      .meta({ description: 'Tools of the run that the answering process does not have: another one must drive it' }),
    missingProviders: z.array(z.string()).readonly().meta({
      description: 'Models of the run whose providers the answering process does not have: another one must drive it',
    }),
  })
  .meta({ id: 'RunDetail' })
export type RunDetail = z.infer<typeof RunDetail>

/** The answer to a start and to a fork. `workspace`: the run's folder; null: none. */
export const Started = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    revision: z.int(),
    driving: z.boolean(),
    created: z.boolean().meta({ description: 'False: the same request had started it before' }),
    workspace: z.string().nullable(),
    warnings: z.array(z.string()).meta({ description: 'Sentences for a person, such as a gate that cannot hold' }),
  })
  .meta({ id: 'Started' })
/** A run that was started, or that the same key started before (`created` false). */
export type StartedRun = z.infer<typeof Started>

export const InputBody = z
  .strictObject({
    text: z.string().trim().min(1),
    agent: Id.optional().meta({ description: 'To this agent of the run; default: the root agent' }),
    toolCallId: Id.optional().meta({ description: 'The question that the text answers, which must be open' }),
    by: By.optional(),
  })
  .meta({ id: 'Input' })
export const ContinueRun = z
  .strictObject({
    task: z.string().trim().min(1),
    env: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Variables for the agent: the values of the former run are not recorded.' }),
    by: By.optional(),
  })
  .meta({ id: 'ContinueRun' })
export type ContinueRun = z.infer<typeof ContinueRun>
export const CancelBody = z
  .strictObject({ reason: z.string().min(1).optional(), deadlineMs: Milliseconds.optional(), by: By.optional() })
  .meta({ id: 'Cancel' })
export const PauseBody = z
  .strictObject({ reason: z.string().min(1).optional(), by: By.optional() })
  .meta({ id: 'Pause' })
/** `drive` false: only end the pause. */
export const ResumeBody = z.strictObject({ drive: z.boolean().default(true), by: By.optional() }).meta({ id: 'Resume' })
/**
 * Bodies of a finished run: the event at `revision`, the events from there `to` another, or `all`. `agent` absent: the
 * root agent, or with `all` every agent of the run. `dryRun`: only report the bodies.
 */
export const EraseBody = z
  .strictObject({
    revision: count.optional(),
    to: count.optional(),
    all: z.literal(true).optional(),
    code: ErasureCode.optional(),
    reason: z.string().trim().min(1).max(MAX_ERASURE_REASON),
    dryRun: z.boolean().default(false),
    agent: Id.optional(),
    by: By.optional(),
  })
  .refine(namesBodiesOnce, { message: ERASE_WHICH })
  .meta({ id: 'Erase' })
/** `bodies`: in a dry run, the bodies that would be erased. `size`: in bytes as stored. `turn`: 0 outside turns. */
export const Erased = Recorded.extend({
  dryRun: z.boolean(),
  bodies: z
    .array(z.strictObject({ agentId: z.string(), revision: count, type: z.string(), turn: count, size: count }))
    .optional(),
  annotations: count.optional().meta({
    description: 'In a dry run with "all": how many tags and notes of the run would be erased, removed ones included',
  }),
  facts: z.array(z.string()).optional().meta({
    description:
      'With "all": facts that the run saved, at most 500. They stay; POST /v1/memories/{id}/forget erases one.',
  }),
}).meta({ id: 'Erased' })

export const ForkBody = z
  .strictObject({
    step: count.optional(),
    turn: count.optional(),
    event: count.optional(),
    agent: Id.optional(),
    workspace: Folder.optional(),
    model: z.string().min(1).max(300).optional(),
    maxTurns: z.int().positive().optional(),
    budget: Budget.partial().optional().meta({ description: 'Its own: what the source has spent is not counted.' }),
    reuse: z.literal(true).optional().meta({
      description:
        'Take the recorded outcomes of models, tools and children as long as the fork asks for the same; they are neither performed nor billed.',
    }),
    drive: z.boolean().default(true).meta({ description: 'False: only record the fork.' }),
    by: By.optional(),
  })
  .refine((q) => [q.step, q.turn, q.event].filter((v) => v !== undefined).length <= 1, {
    error: 'give only one of step, turn and event',
  })
  .meta({ id: 'Fork' })

export const Difference = z
  .strictObject({
    a: z.strictObject({ agentId: z.string(), revision: z.int() }),
    b: z.strictObject({ agentId: z.string(), revision: z.int() }),
    state: z.array(z.strictObject({ path: z.string(), a: AnyJson.optional(), b: AnyJson.optional() })),
    messages: z.strictObject({ common: count, onlyA: z.array(AnyJson), onlyB: z.array(AnyJson) }),
    files: z
      .strictObject({
        changes: z.array(FileChanged),
        patch: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'Difference' })

export const OneAgent = z.strictObject({ agent: Id.optional().meta({ description: 'Only this agent of the run' }) })

export const VerifiedRun = z
  .strictObject({
    runId: z.string(),
    ok: z.boolean(),
    agents: z.array(
      z.strictObject({
        agentId: z.string(),
        events: count,
        ok: z.boolean(),
        head: z.string(),
        proof: StreamHeads,
        erased: z.array(ErasedBody).readonly(),
        problems: z
          .array(
            z.strictObject({
              revision: z.int(),
              code: z.enum(['CHAIN', 'BODY', 'DIGEST', 'SHAPE', 'TIME', 'BLOB', 'CHILD', 'ORPHAN', 'TABLE']),
              message: z.string(),
            }),
          )
          .readonly(),
        digests: count,
        unchecked: count,
      }),
    ),
    acceptedLosses: AcceptedLosses,
    parked: z
      .array(Parked)
      .readonly()
      .meta({ description: 'Its streams that the tables cannot take any further, whether or not they are whole' }),
  })
  .meta({ id: 'VerifiedRun' })
/** Whether the chains, bodies and digests of a run are those that were recorded. */
export type VerifiedRun = z.infer<typeof VerifiedRun>
