import { StepsCompared } from '../../compare/steps-compared.tsx'
import type { DetailProps } from './detail-props.ts'

/** The changes of the step at the position: state, messages and files compared with the previous step. */
export function DiffTab({ agent, place }: Pick<DetailProps, 'agent' | 'place'>) {
  const step = agent.outline.steps[place] ?? 0
  if (step === 0) return <p class="quiet">Nothing precedes the first step.</p>
  const at = (n: number) => `${agent.agentId}:${n}`
  return (
    <>
      <h2>
        From step {step - 1} to step {step}
      </h2>
      <p>
        <a href={`/compare?a=${at(step)}`}>Compare step {step} with another one</a>
      </p>
      <StepsCompared a={at(step - 1)} b={at(step)} />
    </>
  )
}
