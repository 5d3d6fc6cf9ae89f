import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { Foreign } from '../../parts/text.tsx'
import type { DetailProps } from './detail-props.ts'
import { wholeEvent } from './whole-event.ts'

/** The event as /v1 returns it. */
export function RawTab({ agent, place }: DetailProps) {
  const found = useLoaded(`${agent.agentId} ${place}`, () => wholeEvent(agent.agentId, place))
  return (
    <Loaded of={found}>
      {(event) => (
        <pre>
          <Foreign text={JSON.stringify(event, null, 2)} most={200_000} />
        </pre>
      )}
    </Loaded>
  )
}
