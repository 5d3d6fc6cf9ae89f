export interface AgentState {
  readonly status: string
}
