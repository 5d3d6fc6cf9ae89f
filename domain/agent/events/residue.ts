import { callResidues, ERASED, erasedBlock, erasedCall, erasedFailure, erasedId } from '../../calls/events/residue.ts'
import { withoutText } from '../../tree/erased-spec.ts'
import type { BodyOf, EventType } from './events.ts'

// An erasure replaces each body by its residue: the names, codes, numbers and hashes that the fold needs, without the
// text of people, models and tools. A history folds from residues to the same digests that were recorded.

type Residues = { readonly [T in EventType]?: (body: BodyOf<T>, bodyHash: string) => BodyOf<T> }

export const residues: Residues = {
  ...callResidues,
  agent_started: ({ spec, hashSalt: _, ...rest }) => ({ ...rest, spec: withoutText(spec) }),
  forked: ({ workspace, hashSalt: _, ...rest }) => ({
    ...rest,
    workspace: workspace && { ...workspace, path: ERASED },
  }),
  user_input: () => ({ text: ERASED }),
  prompt_set: () => ({ system: ERASED }),
  model_call_end: (body, bodyHash) => ({ ...body, ...erasedAnswer(body, bodyHash) }),
  loss_accepted: ({ reason: _, ...rest }) => rest,
  lost_call_decided: ({ decision, toolName, result }) => ({
    decision,
    toolName,
    ...(result === undefined ? {} : { result: ERASED }),
  }),
  loss_released: () => ({}),
  workspace_versioned: (body) =>
    'tree' in body ? body : { step: body.step, unversioned: erasedFailure(body.unversioned) },
  context_set: (body) =>
    'argumentsRef' in body ? { key: ERASED, argumentsRef: body.argumentsRef } : { key: ERASED, value: ERASED },
  artifact_registered: ({ artifact: { id, type } }) => ({ artifact: { id, type } }),
  gate_checked: (body) => ({ ...body, evidence: ERASED }),
  phase_advanced: (body) => ({ ...body, summary: ERASED }),
  recovery: (body) => {
    if (body.phase === 'final_warning') return { ...body, warning: ERASED }
    return body.phase === 'failed' ? { ...body, reason: ERASED } : body
  },
  completion: ({ unmetGates, unreadInput }) => ({ summary: ERASED, artifacts: [], unmetGates, unreadInput }),
  error: ({ partialOutput: _, ...rest }) => ({ ...rest, error: ERASED }),
  paused: ({ reason: _, ...rest }) => rest,
  cancel_requested: ({ reason: _, ...rest }) => rest,
  child_delegated: ({ expectedOutput: _, ...rest }) => ({ ...rest, task: ERASED, constraints: [] }),
  end_reported: ({ partialOutput: _, nextSteps: __, ...rest }) => ({ ...rest, message: ERASED, artifacts: [] }),
  child_unreached: (body) => ({ ...body, reason: ERASED }),
  child_artifact: ({ artifact: { id, type }, ...rest }) => ({ ...rest, artifact: { id, type } }),
  cancel_forwarded: ({ reason: _, ...rest }) => rest,
  pause_forwarded: ({ reason: _, ...rest }) => rest,
  delivered: (body) => ({ ...body, bounced: body.bounced.map((one) => ({ ...one, reason: ERASED })) }),
  message_sent: ({ topic: _, refused, ...rest }) => ({
    ...{ ...rest, payload: ERASED },
    ...(refused === undefined ? {} : { refused: ERASED }),
  }),
  message_received: ({ topic: _, payload, ...rest }) => ({
    ...{ ...rest, text: ERASED },
    ...(payload === undefined ? {} : { payload: ERASED }),
  }),
  message_bounced: (body) => ({ ...body, reason: ERASED, text: ERASED }),
  message_published: (body) => ({ ...body, topic: ERASED, payload: ERASED }),
  message_distributed: (body) => ({ ...body, topic: ERASED, payload: ERASED }),
  summary_failed: (body) => ({ ...body, error: erasedFailure(body.error) }),
  knowledge_added: ({ items }) => ({
    items: items.map(({ source: { kind }, hash }) => ({ source: { kind, name: ERASED }, hash })),
  }),
  restore_requested: ({ reason: _, ...rest }) => rest,
  restore_ended: ({ error, ...rest }) => ({ ...rest, ...(error && { error: erasedFailure(error) }) }),
  tasks_updated: ({ set, removed }) => ({ set: set.map((task) => ({ ...task, title: ERASED })), removed }),
  permission_granted: (body) => ({ ...body, reason: ERASED }),
  permission_revoked: ({ reason: _, ...rest }) => rest,
  workspace_drifted: (body) => ({ ...body, changed: [] }),
}

export const erasedAnswer = (
  { content, calls }: Pick<BodyOf<'model_call_end'>, 'content' | 'calls'>,
  bodyHash: string,
) => ({
  content: content.map((block, index) =>
    erasedBlock(
      block,
      calls.find((call) => call.block === index),
      erasedId(bodyHash, index),
    ),
  ),
  calls: calls.map(erasedCall),
})
