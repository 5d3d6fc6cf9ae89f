import { asJson } from '../../../domain/log/json.ts'
import { Problem } from '../../operations/problem.ts'
import type { GivenBackend, GivenBackends } from '../../operations/runs/prepare-delegation.ts'
import { backendsOf, priceOf } from './agent-runs.ts'
import type { Host } from './open-host.ts'

/**
 * The roles that the settings assign to external agents. Throws `UNKNOWN_AGENT` for a kind that this host does not
 * have.
 */
export function givenBackends(host: Pick<Host, 'config' | 'agents' | 'models'>): GivenBackends {
  const asked = Object.entries(host.config.agents.roles)
  if (asked.length === 0) return {}
  const backends = backendsOf(host)
  return Object.fromEntries(
    asked.map(([role, { kind, model }]) => {
      const backend = backends.find((one) => one.kind === kind)
      if (backend === undefined)
        throw new Problem(
          'UNKNOWN_AGENT',
          `agents.roles.${role}: there is no agent "${kind}"; there are ${backends.map((one) => one.kind).join(', ')}`,
        )
      const { capabilities, levels = [], reportsCost = false, takesTools = false } = backend
      const price = model === undefined ? null : priceOf(host, model)
      const given: GivenBackend = {
        kind,
        capabilities: [...capabilities].sort(),
        levels: levels.map(({ grants, extensions }) => ({ grants, extensions: asJson(extensions) })),
        costs: reportsCost || price !== null,
        ...(model !== undefined && { model }),
        ...(price !== null && { price }),
        ...(takesTools && { takesTools: true as const }),
      }
      return [role, given]
    }),
  )
}
