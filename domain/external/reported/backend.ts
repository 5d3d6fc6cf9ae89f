/** The kind of the runs that programs report over OTLP. No backend of a host may have it. */
export const OTLP = 'otlp'
