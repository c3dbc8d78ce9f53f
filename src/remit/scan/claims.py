"""Sentences about a whole agent: "read-only", "full tool access". Only those that are about this agent, and certain.

"Never write code" is no such sentence: whoever never writes code may still write documents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.scan.model import Claim, Place

if TYPE_CHECKING:
    from remit.scan.front_matter import Head

_WORK = r"(?:analysis|analyst|agent|sub-?agent|critique|critic|reviewer|review|role|mode|audit|auditor|explorer|exploration|research|researcher|investigation|access|specialist|inspection|validator|planner|advisor|assistant|helper|guide|checker|scanner|inspector|summarizer|consultant|scout|verifier|analyzer|assessment|assessor|diagnosis|diagnostics|discovery|verification|reconnaissance|monitoring|observer)"
_NO_CHANGE = r"(?:modify|edit|change|alter|touch|write|create|delete)"
_READ_ONLY = (
    # "Read-only analysis of code", "Strictly read-only.", as a sentence or heading of its own
    re.compile(
        rf"^(?:strictly |purely |fully )?read[- ]only(?: (?:code |security )?{_WORK})?(?: (?:of|for) (?:the |this )?(?:code|codebase|project|repository))?(?: only)?\s*(?:[.!:;,—–(。！：；，、（-].*)?$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\byou(?: are|'re)(?: an?| strictly| purely| always)* read[- ]only(?: {_WORK})?\b(?! (?:for|on|over|with|during|while)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:a|an|the|this|strictly|purely|is|are|runs?|operates?|in) (?:(?:strictly|purely|specialist|specialized|dedicated|independent|senior) )?read[- ]only (?:code[- ]|security )?{_WORK}\b(?! (?:process|phase|step|stage|pass|task|workflow)\b)",
        re.IGNORECASE,
    ),
    # "Never edit or write files (read-only agent)"
    re.compile(rf"\((?:this is an? |you are an? )?(?:strictly |purely )?read[- ]only {_WORK}\)", re.IGNORECASE),
    re.compile(
        r"\b(?:this agent|it|agent) is (?:strictly |purely )?read[- ]only\b(?! (?:for|on|over|with|during|while)\b)|\b(?:strictly|purely) read[- ]only\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:you|agent) (?:must|may|can|do|should|will)?\s?(?:not|never|cannot) (?:[\w ]{{1,30}}, )*(?:or )?{_NO_CHANGE}(?:,? (?:or |and )?{_NO_CHANGE})* (?:any )?files?\b(?! (?:outside|that|which|in (?!(?:the|this|your) (?:project|repo|repository|codebase|workspace)\b)|under|other|unless|not))",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:never|do not|don't|must not) {_NO_CHANGE}(?:,? (?:or |and )?{_NO_CHANGE})* any files?\b(?! (?:outside|that|which|in (?!(?:the|this|your) (?:project|repo|repository|codebase|workspace)\b)|under|other|unless|not))",
        re.IGNORECASE,
    ),
)
_READS = re.compile(
    r"(?:只读|읽기 전용|読み取り専用|nur lesend|(?:en )?lecture seule|s[oó]lo lectura|(?:somente|apenas) leitura)",
    re.IGNORECASE,
)
"""What stands alone in a cell, in languages that write it otherwise."""
_CHANGES = re.compile(r"\b(?:modif|edit|chang|alter|touch|writ|creat)", re.IGNORECASE)
_ELSEWHERE = (
    # "changes no file" and "read-only agent" in other languages
    r"kein(?:en|erlei)? Schreibzugriff|\b(?:(?:ver)?ändert|bearbeitet|schreibt|modifiziert) (?:(?:niemals|nie) (?:eine )?|keine(?:rlei)? )Datei(?:en)?\b",
    r"\b(?:niemals|nie|keine) Dateien (?:zu )?(?:(?:ver)?ändern|schreiben|bearbeiten)|\bnur lesende[rn]? (?:Agent|Prüfer)",
    r"\b(?:no|nunca|jamás) (?:modifica|edita|escribe|cambia|crea)r? (?:ning[uú]n |los |ni un )?(?:archivos?|ficheros?|nada)\b|\bsin (?:modificar|editar|cambiar) (?:ning[uú]n )?(?:archivos?|ficheros?|nada)\b",
    r"\bagente de s[oó]lo lectura\b",
    r"\b(?:não|nunca|jamais) (?:modifica|edita|altera|escreve|muda|cria)r? (?:nenhum |os )?(?:arquivos?|ficheiros?|nada)\b|\bsem (?:modificar|editar|alterar) (?:nenhum )?(?:arquivos?|ficheiros?|nada)\b",
    r"\bagente (?:de )?(?:somente|apenas) leitura\b",
    r"\bn[e'’] ?(?:modifie|change|édite|écrit|altère|touche)[sz]? (?:jamais|aucun|pas de fichiers?|rien)\b|\bsans (?:modifier|changer|éditer|toucher) (?:aucun|de) fichiers?\b|\bagent (?:en )?lecture seule\b",
    r"\bnon (?:modifica|cambia|scrive) (?:mai|nessun|alcun) file\b|\bagente (?:di |in )?sola lettura\b",
    r"\bне (?:изменяет|меняет|редактирует|пишет|правит) (?:никакие |никаких )?(?:файлы|файлов|файла)\b|\bагент только для чтения\b",
    r"不(?:会|得|能|可以?|准)?(?:修改|更改|编辑|改动|写入)(?:任何|所有)?(?:文件|代码|檔案)(?!以外|之外)|只读(?:代理|智能体|审查|分析|模式|角色|agent)",
    r"(?:禁止|严禁|绝不|从不|切勿|不要)(?:修改|更改|编辑|改动|写入)(?:任何|所有)?(?:源)?(?:文件|代码|檔案)(?![^，。]{0,6}(?:以外|之外))",
    r"읽기 전용 (?:에이전트|검토자|분석가|리뷰어|모드|분석|검토|검사)|(?:파일|코드)[을를은는]?\s?(?:절대 |전혀 )?(?:수정|변경|편집|작성)(?:하지 (?:않(?!은)|마|말)|할 수 없| 금지)",
    r"(?:ファイル|(?:ソース)?コード)(?:を|は|の|には)(?:一切|決して|絶対に)?(?:変更|編集|修正|改変|書き換え)(?:する|る)?(?:こと)?(?:を|は|も)?(?:し|行わ|加え|でき|あり)?(?:ない|ません)(?!場合|なら|限り|と(?!い)|よう|ため|で(?!ください))",
    r"読み取り専用(?:の)?(?:エージェント|モード|レビュー|分析)",
)
_CODE = r"(?: (?:any )?(?:source |production )?code)?"
_LOOSE = r"(?: (?:any )?(?:source )?code (?:or|and))?"
_NOTHING_CHANGED = re.compile(
    rf"^(?:(?:the |this )?(?:agent|reviewer|it|you|he|she)?\s*)?(?:never|does not|doesn't|do not|cannot|can't|must not|will not|won't) {_NO_CHANGE}s?(?:{_CODE}(?:,|,? or|,? and)? {_NO_CHANGE}s?)*{_LOOSE} (?:any )?(?:source )?(?:files?|anything)\s*(?:[.!;,—–(]|$)"
    r"|\b(?:makes? no (?:changes|edits|modifications)(?: to (?:any )?files?)?|has no write access|no write access|without (?:modifying|changing|editing) (?:any )?files?|without making any (?:changes|edits|modifications))\s*(?:[.!;,)]|$)"
    r"|\b(?:changes|modifies|edits|alters|touches|writes) (?:no (?:code or )?files?|nothing)\s*(?:[.!;,)]|$)"
    + "".join(f"|{one}" for one in _ELSEWHERE),
    re.IGNORECASE,
)
_LOOKS = r"(?:review|analy[sz]e|critique|advise|report|read|inspect|assess|evaluate|recommend|suggest|observe|comment|audit|diagnose|investigate)"
_ONLY_LOOKS = re.compile(
    rf"^(?:you|this agent) only {_LOOKS}s?(?:(?:, and |, or |, |/| and | or | & )(?:only )?{_LOOKS}s?)+"
    r"(?: (?:on )?(?:the |this |your )?(?:code|codebase|changes|designs?|plans?|documents?|findings|issues))?\s*(?:[.!;—–(]|$|,? (?:you )?(?:never|do not|don't)\b)"
    rf"|^(?:you|this agent) {_LOOKS}s?(?:, {_LOOKS}s?){{0,4}},? (?:and|or) {_LOOKS}s? only\s*(?:[.!;—–(]|$)",
    re.IGNORECASE,
)
"""What says that an agent does nothing but read: whoever reviews may run commands, and edits no file."""
_OWN = r"(?:(?:strictly |purely |fully )?read[- ]only|nur lesend|nur lesen|(?:en )?lecture seule|s[oó]lo lectura|(?:somente|apenas) leitura|sola lettura|只读|읽기 전용)"
_DESCRIBED = (
    # What a description may say in passing, since it is about the agent: "Reviews code (read-only)", "…, read-only."
    re.compile(rf"(?:^|[,;:(—–，；：、（]|\s-)\s*{_OWN}\s*(?:[.!;,)—–。！；，、）].*)?$", re.IGNORECASE),
    re.compile(
        r"\b(?:with|has|have) (?:strictly |purely )?read[- ]only (?:access|permissions?|rights)"
        r"(?: (?:to|on) (?:the |this |your )?(?:code|codebase|project|repository|repo|files|workspace))?\s*(?:[.!;,)].*)?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:use this agent for )?read[- ]only (?:[\w-]+ ){0,3}"
        r"(?:agent|audit|auditor|review|reviewer|analysis|analyst|research|researcher|exploration|explorer|reconnaissance|inspection)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?:performs?|does|provides?|conducts?) read[- ]only (?:code |security )?{_WORK}\b", re.IGNORECASE),
)
_HINT = re.compile(
    r"read[- ]only|\bno\b|nothing|without|不|只读|kein|nie|nunca|não|jam[aá]i?s|\bsem\b|\bsin\b|\bsans\b|\bne\b|\bn['’]|\bnon\b|\bне\b|않|지 마|지 말|수 없|금지|禁|勿|ない|ません|読み取り|읽기"
    r"|lectura|leitura|lecture|lettura|чтения|lesend|\b(?:not|never|cannot)\b|n't\b",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\b(?:except|unless|other than|apart from|besides|outside|only (?:in|to|under|documentation|docs|tests?|markdown)|(?:writ|sav|creat|stor)\w* [^.]{0,40}reports?|reports? files?|until|without (?:permission|approval|asking|confirmation)"
    r"|not read-only|isn't read-only|gated,? (?:[\w-]+,? ){0,3}(?:changes?|actions?|steps?|writes?|edits?)|dispatch|spawn|launch|invoke|give|grant|each agent|directly|before|if|when|by default|default\)|\+|read-only (?:on|over|for|towards?) |agents \(|agents:|read-only (?:commands?|tools?|operations?|git|checks?|replica|database|queries|api|sql|file ?system|mount|workflow))"
    r"|\+ (?:create|write)|\(\+"
    r"|\b(?:außer|ausser|ohne (?:Freigabe|Zustimmung|Rückfrage)|wenn|falls|außerhalb|salvo|excepto|a menos|fuera de|hasta que|sin (?:permiso|aprobación|confirmación)|si no|exceto|fora d[aeo]|sem (?:permissão|aprovação)"
    r"|sauf|hors d|hormis|à moins|sans (?:accord|approbation|autorisation|permission)|eccetto|tranne|кроме|без (?:разрешения|согласия))\b|除了|除非|之外|以外|除外|未经|제외|외에|승인 없이|허락 없이|以外の|なしに|許可なく"
    rf"|(?!(?:agent|it|you|this|this agent|{_WORK})\b)\b[\w-]+ (?:is|are|stays?|remains?) (?:strictly |purely |always )*read-only",
    re.IGNORECASE,
)
"""What makes a claim one with exceptions, or one about something else than the agent."""
_OF_ANOTHER = re.compile(
    r"^\s*(?:[-*+]|\d+[.)])\s+\W{0,4}(?:\*\*|`)@?(?![^*`]*(?i:read|never|\bno\b|not))[^*`]{2,40}(?:\*\*|`)\s*(?:\([^)]*\)\s*)?(?:[—–:]|-\s)"
)
"""An item that begins with a name and says something of it."""
_COMMANDS = re.compile(r"read[- ]only\W{0,4}:\W{0,3}`", re.IGNORECASE)
"""A list of commands that only read."""
_ALL_TOOLS = re.compile(
    r"\b(?:full|unrestricted|complete) (?:tool )?access\b|\b(?:access to )?all (?:marked |available )?tools\b",
    re.IGNORECASE,
)
_WRITES_REPORTS = re.compile(
    r"\b(?:write|writes|create|creates|save|saves|produce|produces|output|outputs|generate|generates)\b[^.\n]{0,60}?(?:\breports?\b|\bfindings\b|\breview\b|\.md\b|\.ya?ml\b|\.json\b|\bartifacts?\b|\bplan file\b|\bdocument\b)",
    re.IGNORECASE,
)
_PATIENCE = 400
"""Lines of a body that are searched for a claim."""


def claims_read_only(sentence: str) -> bool:
    """Whether a sentence says that the agent itself changes no file at all."""
    plain = sentence.strip()
    return _READS.fullmatch(plain) is not None or (
        len(plain) < 400
        and _HINT.search(plain) is not None
        and (any(one.search(plain) for one in _READ_ONLY) or any(map(_NOTHING_CHANGED.search, _clauses(plain))))
        and _EXCEPT.search(plain) is None
        and ("delete" not in plain.lower() or _CHANGES.search(plain) is not None)  # who deletes nothing may write
    )


def _clauses(sentence: str) -> list[str]:
    """The sentence, and its parts that stand on their own: "Plan only — never write code, never modify files"."""
    if _SOMETIMES.match(sentence):
        return [sentence]
    return [
        sentence,
        *re.split(r"\s[—–-]{1,2}\s|[;:]\s|,\s(?=(?:never|do not|don't|must not|cannot|you)\b)", sentence)[1:],
    ]


_SOMETIMES = re.compile(
    r"(?:for|in|during|while|on|after|at|with|when|once|as|by|under|from|until|this|these|each|some|most|other|their|its)\b",
    re.IGNORECASE,
)
"""How a sentence begins whose parts hold at some times, or of somebody else."""


def describes_read_only(sentence: str) -> bool:
    """Whether a sentence of a description says that the agent changes nothing."""
    if claims_read_only(sentence) or (
        re.match(rf"read[- ]only (?:[\w-]+ )?{_WORK}\s*[.,;—–]", sentence, re.IGNORECASE)
        and not _EXCEPT.search(sentence)
    ):
        return True
    return len(sentence) < 400 and any(one.search(sentence) for one in _DESCRIBED) and _EXCEPT.search(sentence) is None


def claims_to_look(sentence: str) -> bool:
    """Whether a sentence says that the agent only reads and speaks: "You only review and critique"."""
    return len(sentence) < 400 and _ONLY_LOOKS.search(sentence) is not None and _EXCEPT.search(sentence) is None


def claims_all_tools(text: str) -> bool:
    """Whether a sentence of the text says that the agent has every tool."""
    return any(
        _ALL_TOOLS.search(sentence) is not None
        and not re.search(r"\b(?:no|not|without|never)\b", sentence, re.IGNORECASE)
        for sentence in re.split(r"(?<=[.!?])\s+", text[:2000])
    )


_STILL_WRITES = re.compile(
    r"\bseules? écritures? autorisées?|\bonly (?:permitted |allowed )?(?:writes?|files?) (?:allowed|permitted|(?:that )?you may write)"
    r"|\b(?:may|can) only write (?:to|into|under|in)\b|\beinzig\w* (?:erlaubt\w* )?schreib|\búnic[ao]s? (?:escrituras?|archivos?) permitid",
    re.IGNORECASE,
)
"""What a definition says that names the files which its agent may write after all."""


def read_only_claim(head: Head, path: str) -> Claim | None:
    """The first sentence of a definition that calls the agent read-only, if no other names an exception."""
    if _STILL_WRITES.search(head.body[:60_000]):
        return None
    description = head.values.get("description")
    if isinstance(description, str) and len(description) < 4000:
        # examples in a description are about other things
        for sentence in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\\n|\n|<example>.*", description):
            if describes_read_only(sentence.strip()):
                return Claim(sentence.strip(), Place(path, head.line("description")))
    inside, looks = False, None
    for number, line in enumerate(head.body.split("\n")[:_PATIENCE], head.body_line):
        if line.lstrip().startswith(("```", "~~~")):
            inside = not inside
        elif not inside and len(line) < 2000 and not _OF_ANOTHER.match(line) and not _COMMANDS.search(line):
            plain = re.sub(r"[*_`#>]+|^\s*(?:[-+]|\d+[.)])\s+", "", line).strip()
            for sentence in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", plain):
                if claims_read_only(sentence):
                    return Claim(sentence.strip(), Place(path, number))
                if looks is None and claims_to_look(sentence):
                    looks = Claim(sentence.strip(), Place(path, number), edits_only=True)
    return looks


def writes_reports(head: Head) -> bool:
    """Whether a definition tells the agent to write a report or the like: then a tool that creates files is meant."""
    return _WRITES_REPORTS.search(head.body[:60_000]) is not None


def all_tools_claim(head: Head, path: str) -> Claim | None:
    """The sentence of a description that gives the agent every tool."""
    description = head.values.get("description")
    if isinstance(description, str) and claims_all_tools(description):
        return Claim(description[:200], Place(path, head.line("description")))
    return None
