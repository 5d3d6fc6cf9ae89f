import type { AgentSample, CliAgent } from '../../../api/library/agent-kit.ts'
import { plainAgent } from './plain-agent-definition.ts'

/** A sample run of the backend. */
export const OWN_SAMPLE: AgentSample = {
  lines: ['{"session":"s1"}', '{"say":"all is well"}', '{"done":true}'],
  kinds: ['TextOutput'],
  finalText: 'all is well',
  sessionId: 's1',
}

/** A user-defined backend. */
export const OWN: CliAgent = {
  ...plainAgent,
  kind: 'own',
  plan: ({ prompt }) => ({ args: ['--json'], stdin: prompt }),
  mapping() {
    const plain = plainAgent.mapping()
    return {
      line(line) {
        if (typeof line.session === 'string') return { sessionId: line.session }
        if (line.done !== true && typeof line.say !== 'string')
          return { events: [{ kind: 'Unknown', message: 'a line of an unknown type' }] }
        return plain.line(line)
      },
      end: plain.end,
    }
  },
}
