import { behaviour, fault } from './row.ts'
import type { Rule } from './rules.ts'

// Routing, health, limits and the request cache (CONTRACTS 7 and 9).

const rules = behaviour('5.7-rules')
const limits = behaviour('5.7-limits')
const cache = behaviour('9-request-cache')

export const ROUTING: readonly Rule[] = [
  {
    rule: '7 rules',
    says: 'the first rule that matches decides',
    test: rules,
    fault: fault('agent/routing/routing-rules.ts', 'config.rules.find((rule)', 'config.rules.findLast((rule)'),
  },
  {
    rule: '7 ties',
    says: 'the id breaks ties',
    test: rules,
    fault: fault('agent/routing/routing-rules.ts', 'a.id < b.id', 'a.id > b.id'),
  },
  {
    rule: '7 capable',
    says: 'a model that cannot call tools is not asked to',
    test: rules,
    fault: fault('agent/routing/routing-rules.ts', 'callsTools && tools === false', 'false'),
  },
  {
    rule: '7 affordable',
    says: 'a model that the budget has no room for is refused',
    test: rules,
    fault: fault('agent/routing/routing-rules.ts', 'room(state, info, input) !== null', 'true'),
  },
  {
    rule: '7 fallback',
    says: 'a model that has failed gives way to the next one',
    test: rules,
    fault: fault('agent/routing/routing-rules.ts', "if (failed) return 'it has failed since the last answer'", ''),
  },
  {
    rule: '7 recorded facts',
    says: 'a decision is a function of recorded facts',
    test: rules,
    fault: fault(
      'agent/routing/routing-rules.ts',
      '  ...(figures === undefined ? {} : { figures }),\n',
      '  ...(figures === undefined ? {} : { figures: { ...figures, medianMs: null } }),\n',
    ),
  },
  {
    rule: '7 half-open probing',
    says: 'one call tries whether an unhealthy model serves again',
    test: rules,
    fault: fault('agent/routing/health.ts', "health: waits ? 'unhealthy' : 'half_open'", "health: 'unhealthy'"),
  },
  {
    rule: '7 health',
    says: 'a time limit counts as one',
    test: rules,
    fault: fault('agent/runtime/model-health.ts', "code === 'TIMEOUT' ? 'timeout' : ", ''),
  },
  {
    rule: '7 rate limit',
    says: 'a call that is held back uses no time of the run',
    test: limits,
    fault: fault('agent/state/work-clock.ts', 'waitsForLimit(state) || ', ''),
  },
  {
    rule: '7 rate limit',
    says: 'held attempts are no retries',
    test: limits,
    fault: fault('agent/routing/outage.ts', ' - (open.held ?? 0)', ''),
  },
  {
    rule: '7 Retry-After',
    says: 'other runs learn of it',
    test: limits,
    fault: fault('agent/runtime/perform/perform-model.ts', "error.code === 'RATE_LIMITED' && ", 'false && '),
  },
  {
    rule: '9 request cache',
    says: 'a hit is billed 0',
    test: cache,
    fault: fault('agent/runtime/perform/perform-model.ts', '{ ...outcome, usage: NO_USAGE }', 'outcome'),
  },
  {
    rule: '9 request cache',
    says: 'a hit changes nothing but the bill',
    test: cache,
    fault: fault('agent/state/evolve-turns.ts', 'cached ?? event.body.usage', 'event.body.usage'),
  },
  {
    rule: '9 request cache',
    says: 'every byte of the request counts',
    test: cache,
    fault: fault(
      'agent/runtime/perform/request-cache.ts',
      'canonicalBytes({ provider, request })',
      'canonicalBytes({ provider, request: { ...request, system: null } } as never)',
    ),
  },
]
