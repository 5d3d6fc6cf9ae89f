import { drop, replace } from '../mutations/edits.ts'
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
    fault: fault('domain/agent/routing/routing-rules.ts', 'byRules', replace('word', 'find', 'findLast')),
  },
  {
    rule: '7 ties',
    says: 'the id breaks ties',
    test: rules,
    fault: fault('domain/agent/routing/routing-rules.ts', 'isBetter', replace('operator', '< id', '>')),
  },
  {
    rule: '7 capable',
    says: 'a model that cannot call tools is not asked to',
    test: rules,
    fault: fault('domain/agent/routing/routing-rules.ts', 'unable', replace('condition', 'callsTools', 'false')),
  },
  {
    rule: '7 affordable',
    says: 'a model that the budget has no room for is refused',
    test: rules,
    fault: fault('domain/agent/routing/routing-rules.ts', 'ruleFacts', replace('value', 'affordable room', 'true')),
  },
  {
    rule: '7 fallback',
    says: 'a model that has failed gives way to the next one',
    test: rules,
    fault: fault('domain/agent/routing/routing-rules.ts', 'unwell', replace('condition', 'failed', 'false')),
  },
  {
    rule: '7 recorded facts',
    says: 'a decision is a function of recorded facts',
    test: rules,
    fault: fault(
      'domain/agent/routing/routing-rules.ts',
      'candidate',
      replace('value', 'figures', '{ ...$, medianMs: null }'),
    ),
  },
  {
    rule: '7 half-open probing',
    says: 'one call tries whether an unhealthy model serves again',
    test: rules,
    fault: fault('domain/agent/routing/health.ts', 'figuresOf', replace('condition', 'waits', 'true')),
  },
  {
    rule: '7 health',
    says: 'a time limit counts as one',
    test: rules,
    fault: fault('domain/agent/runtime/model-health.ts', 'endOfFailure', replace('condition', 'TIMEOUT', 'false')),
  },
  {
    rule: '7 rate limit',
    says: 'a call that is held back uses no time of the run',
    test: limits,
    fault: fault('domain/agent/state/work-clock.ts', 'works', drop('operand', 'waitsForLimit')),
  },
  {
    rule: '7 rate limit',
    says: 'held attempts are no retries',
    test: limits,
    fault: fault('domain/agent/routing/after-model-failure.ts', 'afterFailure', replace('operand', 'held', '0')),
  },
  {
    rule: '7 Retry-After',
    says: 'other runs learn of it',
    test: limits,
    fault: fault(
      'domain/agent/runtime/perform/perform-model.ts',
      'performModel',
      replace('operand', 'RATE_LIMITED', 'false'),
    ),
  },
  {
    rule: '9 request cache',
    says: 'a hit is billed 0',
    test: cache,
    fault: fault('domain/agent/runtime/perform/perform-model.ts', 'performModel', drop('entry', 'NO_USAGE')),
  },
  {
    rule: '9 request cache',
    says: 'a hit changes nothing but the bill',
    test: cache,
    fault: fault('domain/agent/state/evolve-turns.ts', 'answered', drop('operand', 'cached')),
  },
  {
    rule: '9 request cache',
    says: 'every byte of the request counts',
    test: cache,
    fault: fault(
      'domain/agent/runtime/perform/request-cache.ts',
      'requestKey',
      replace('value', 'request', '{ ...$, system: null }'),
    ),
  },
]
