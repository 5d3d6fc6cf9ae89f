/** The collector in the settings, and the state of sending to it. */
export interface TelemetryState {
  /** Only the origin of the URL. */
  readonly target: string
  /** The consumer of the log that has the position. */
  readonly consumer: string
  /** When the spans of a run were last taken. */
  readonly sentAt: string | null
  /** The last failed request since then. */
  readonly failure: { readonly at: string; readonly message: string } | null
}

export interface TelemetrySending {
  /** Null: the settings name no collector. */
  state(): Promise<TelemetryState | null>
}

export const NO_TELEMETRY: TelemetrySending = { state: async () => null }
