import type { CliAgent } from '../../../adapters/agents/process/cli-agent.ts'

/** The smallest backend: each line `{"say": …}` is text, and `{"done": true}` ends the run. */
export const plainAgent: CliAgent = {
  kind: 'plain',
  capabilities: ['agent_api.run', 'agent_api.events', 'agent_api.events.live', 'agent_api.control.cancel.v1'],
  program: 'plain',
  versionArgs: ['--version'],
  passes: ['PLAIN_KEY'],
  plan: ({ prompt }) => ({ args: ['--json'], stdin: prompt === 'no stdin' ? null : prompt }),
  mapping() {
    let [said, done] = ['', false]
    return {
      line(line) {
        if (line.done === true) done = true
        if (typeof line.say !== 'string') return {}
        said = line.say
        return { events: [{ kind: 'TextOutput', text: said }] }
      },
      end: () => ({ done, finalText: done ? said : null }),
    }
  },
}
