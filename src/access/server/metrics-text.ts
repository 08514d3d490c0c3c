/** Metrics in the text format that Prometheus reads. https://prometheus.io/docs/instrumenting/exposition_formats/ */

import type { Metric } from "../../runtime/log/index.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const PREFIX = "throughline_";

export function metricsText(metrics: readonly Metric[]): string {
  return metrics.map((metric) => `${linesOf(metric).join("\n")}\n`).join("");
}

function linesOf(metric: Metric): readonly string[] {
  const name = `${PREFIX}${metric.name}`;
  const head = [`# HELP ${name} ${escaped(metric.help)}`, `# TYPE ${name} ${metric.type}`];
  return metric.type === "summary"
    ? [...head, `${name}_sum ${metric.sum}`, `${name}_count ${metric.count}`]
    : [...head, `${name}${labelsOf(metric.labels)} ${metric.value}`];
}

function labelsOf(labels: Readonly<Record<string, string>> | undefined): string {
  if (labels === undefined) return "";
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', String.raw`\"`)}"`,
  );
  return `{${pairs.join(",")}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", String.raw`\n`);
}
