import { pino } from 'pino'
import type { Config } from '../config/settings.ts'

/** Members of a JSON line beside level, time and text. A line for people leaves them out. */
export type LogFields = Readonly<Record<string, string | number | null>>

/** The log of a process that serves: one line per message, for its operator. */
export interface ServiceLog {
  debug(text: string, fields?: LogFields): void
  info(text: string, fields?: LogFields): void
  warn(text: string, fields?: LogFields): void
  error(text: string, fields?: LogFields): void
}

/** A line of pino that this module's options produce. */
interface Line {
  readonly level: string
  readonly time: string
  readonly msg: string
}

/**
 * A line for people: time, level, text. Level `info` is not named, because most lines have it. `clean` replaces the
 * control characters, so that a text of a stranger cannot forge a line.
 */
function plainLine(json: string, clean: (text: string) => string): string {
  const { level, time, msg } = JSON.parse(json) as Line
  return clean(`${time} ${level === 'info' ? '' : `${level}: `}${msg}`)
}

/**
 * The log of `serve` and `worker`. `write` gets whole lines with their newline.
 *
 * @param config - `logLevel` is the lowest level that is written, `logFormat` the form of a line.
 */
export function serviceLog(
  { logFormat, logLevel }: Pick<Config, 'logFormat' | 'logLevel'>,
  write: (line: string) => void,
  clean: (text: string) => string,
): ServiceLog {
  const destination = { write: (json: string) => write(logFormat === 'json' ? json : `${plainLine(json, clean)}\n`) }
  const logger = pino(
    {
      level: logLevel,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  )
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (text: string, fields: LogFields = {}) =>
      logger[level](fields, text)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
