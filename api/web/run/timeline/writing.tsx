import { Foreign } from '../../parts/text.tsx'
import type { AgentModel } from '../agent-model.ts'

/** At most so much of a text that is being written; its beginning comes with the recorded answer. */
const MOST = 8_000

/** The answer that the model is writing, which no event holds yet. */
export function Writing({ agent }: { agent: AgentModel }) {
  const text = agent.writing.value?.text ?? ''
  return (
    <article class="card model writing" aria-label="The model writes">
      <header>
        <span class="type model">writing …</span>
      </header>
      <Foreign text={text.slice(-MOST)} />
    </article>
  )
}
