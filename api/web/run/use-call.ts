import { useEffect } from 'preact/hooks'
import { query, setQuery } from '../page/router.ts'
import type { AgentModel } from './agent-model.ts'
import { writerOfCall } from './writers.ts'

/** A link may name a call (`?call=`). The position moves to the call's last event when the outline contains it. */
export function useCall(agent: AgentModel): void {
  const asked = query.value.get('call')
  const length = agent.length.value
  useEffect(() => {
    const found = asked === null || length === 0 ? null : writerOfCall(agent.outline, asked, length - 1)
    if (found !== null) setQuery({ call: null, at: String(found) })
  }, [agent, asked, length])
}
