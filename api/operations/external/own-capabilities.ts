/** The capabilities of keepup's own agent in the Universal Agent API. */
export const OWN_CAPABILITIES = [
  'agent_api.run',
  'agent_api.events',
  'agent_api.events.live',
  'agent_api.control.cancel.v1',
  'agent_api.tools.structured.v1',
  'agent_api.tools.results.v1',
  'agent_api.artifacts.final_text.v1',
  'agent_api.session.handle.v1',
  'agent_api.config.model.v1',
] as const
