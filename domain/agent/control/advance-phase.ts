import { z } from 'zod'
import type { Call } from '../../calls/call.ts'
import type { Artifact } from '../../calls/events/event-parts.ts'
import { toolsOfPhase } from '../../calls/tools/phase-tools.ts'
import { sha256 } from '../../log/ids.ts'
import { gatesOnTheWay, targetPhase } from '../state/phases.ts'
import { artifactEvents, artifactsFault, controlTool, gateEvents, nonBlank } from './control-tool.ts'

const InlineArtifact = z.strictObject({
  type: z.enum(['plan', 'report', 'diagram', 'file']),
  title: nonBlank,
  content: z.string().min(1),
})

const schema = z.strictObject({
  summary: nonBlank.describe('What this phase established.'),
  to: nonBlank.optional().describe('Phase to go to; the next one where absent. An earlier phase is allowed.'),
  artifacts: z.array(InlineArtifact).optional().describe('Plans, reports or diagrams made in this phase.'),
})

/** Registers artifacts first. Then the gates of every phase left or skipped must pass. */
export const advancePhase = controlTool({
  name: 'advance_phase',
  description:
    'Moves to another phase of your procedure. Going forward checks the quality gates. Must be the only call of its turn.',
  schema,
  kind: 'continues',
  alone: 'SINGLE_STEP_VIOLATION',
  needsRole: true,
  refusal: (state, { to, artifacts }) => {
    const target = targetPhase(state, to)
    return 'refusal' in target ? target.refusal : artifactsFault({ artifacts })
  },
  examine: (state, call, { to, artifacts = [] }) => {
    const target = targetPhase(state, to)
    return {
      gates: 'phase' in target ? gatesOnTheWay(state, target.phase) : [],
      artifacts: artifacts.map((artifact, item) => registered(call, item, artifact)),
    }
  },
  decide: (state, _, { summary, to }, findings) => {
    const checked = gateEvents(findings)
    const events = [...artifactEvents(findings), ...checked.events]
    if (checked.error !== null) return { events, end: { error: checked.error } }
    const target = targetPhase(state, to)
    if ('refusal' in target) return { events, end: { error: { code: 'INVALID_ARGUMENTS', message: target.refusal } } }
    const { phase } = target
    const tools = toolsOfPhase(state.spec, phase)
    const content = `You are now in phase "${phase}". Its tools: ${tools.join(', ') || 'none; answer in text'}.`
    return {
      events: [...events, { type: 'phase_advanced', body: { from: state.phase, to: phase, summary } }],
      end: { content },
    }
  },
})

/** The content remains in the arguments of the call. */
function registered(call: Call, item: number, { content, ...named }: z.infer<typeof InlineArtifact>): Artifact {
  const bytes = new TextEncoder().encode(content)
  const argumentsRef = { ...call.argumentsRef, item }
  return { id: `${call.id}.a${item}`, ...named, argumentsRef, hash: sha256(bytes), size: bytes.length }
}
