import { Foreign } from '../../parts/text.tsx'
import type { AgentModel } from '../agent-model.ts'

/** The most characters of a text in progress. The recorded answer will contain the start. */
const MOST = 8_000

/** The answer that the model is generating and that no event contains yet. */
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
