import type { HealthFigures } from '../../../domain/agent/routing/decision.ts'
import type { ModelRoutingDecision } from '../../../domain/agent/routing/routing.ts'
import { byRules, type ModelFacts } from '../../../domain/agent/routing/routing-rules.ts'
import type { RoutingConfig } from '../../../domain/tree/routing-config.ts'
import type { ModelInfo } from '../../../domain/tree/spec.ts'

/** A host's information about its models. */
export interface KnownModels {
  readonly models: readonly KnownModel[]
  /** The model for the next turn of a run without a model, a role and a budget. */
  readonly choice: ModelRoutingDecision
}

/** A model that runs can have: limits, price, and its health in this process. */
export interface KnownModel extends ModelInfo {
  /** The health in the answering process. Null: it has made no call of the model. */
  readonly figures: HealthFigures | null
}

export interface ModelSources {
  readonly known: readonly ModelInfo[]
  readonly routing: RoutingConfig | null
  readonly defaultModel: string
  readonly safeDefaultModel: string | null
  info(id: string): ModelInfo
  health(id: string): HealthFigures | undefined
}

/** The models of a host with their health, and the current choice. */
export function knownModels(sources: ModelSources): KnownModels {
  const { known, routing, health } = sources
  const named = routing?.models ?? [sources.defaultModel]
  const others = [...new Set(named)].filter((id) => !known.some((model) => model.id === id))
  const models = [...known, ...others.map((id) => sources.info(id))]
  const shown = models.map((model): KnownModel => ({ ...model, figures: health(model.id) ?? null }))
  return { models: shown, choice: choiceOf(sources, models) }
}

function choiceOf(sources: ModelSources, models: readonly ModelInfo[]): ModelRoutingDecision {
  const { routing, defaultModel, safeDefaultModel, health } = sources
  const requested = routing?.models[0] ?? defaultModel
  const named = { requested, resolved: requested, policy: 'quality', purpose: 'turn' } as const
  if (routing === null) return { ...named, reason: 'no rules are set; this is the model of runs that name none' }
  const facts = models.map((info): [string, ModelFacts] => [
    info.id,
    { info, affordable: true, failed: false, figures: health(info.id) },
  ])
  const basis = { risk: 'low', budgetLeft: null, inputTokens: 0 } as const
  const given = { config: routing, phase: '', role: null, basis, callsTools: true, models: new Map(facts) }
  return { ...named, ...byRules(given, 'turn', safeDefaultModel ?? requested) }
}
