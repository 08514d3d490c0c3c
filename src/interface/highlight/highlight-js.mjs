/**
 * highlight.js with the languages whose code is coloured. The types of the package bring those of the DOM into every file
 * of the project, so this is a JavaScript file, and highlight-js.d.mts has the types that are needed.
 */

import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

export const highlightJs = core.newInstance();

const GRAMMARS = {
  bash,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  php,
  python,
  ruby,
  rust,
  shell,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, grammar] of Object.entries(GRAMMARS)) highlightJs.registerLanguage(name, grammar);

/** Each grammar brings its usual aliases; these are more. C has the grammar of C++, which knows all of it. */
const ALIASES = {
  bash: ["shellscript"],
  cpp: ["c", "h"],
  css: ["less", "scss"],
  json: ["jsonl", "ndjson"],
  python: ["py3", "python3"],
  sql: ["mysql", "pgsql", "postgres", "postgresql", "sqlite"],
  xml: ["svelte", "vue"],
};
for (const [languageName, names] of Object.entries(ALIASES))
  highlightJs.registerAliases(names, { languageName });
