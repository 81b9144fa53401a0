//! Which groups hold text of the document, and which say something about it.

/// What a group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    Body,
    /// Nothing that is read.
    Skip,
    Fonts,
    Styles,
    /// The number or bullet before a paragraph.
    ListLabel,
    Note,
    TextBox,
    /// What makes a field.
    Instruction,
    /// Two forms of one text, of which the one marked as Unicode counts.
    TwoForms,
}

/// What is left out with a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OmittedGroup {
    Image,
    Comment,
    HeaderOrFooter,
}

/// What the first word of a group makes of it; none where it is only a word.
pub(super) fn destination(word: &str, is_starred: bool) -> Option<(Destination, Option<OmittedGroup>)> {
    use Destination::{Body, Fonts, Instruction, ListLabel, Note, Skip, Styles, TextBox, TwoForms};
    let found = match word {
        "fonttbl" => Fonts,
        "stylesheet" => Styles,
        "listtext" | "pntext" => ListLabel,
        "footnote" => Note,
        "shptxt" | "dptxbxtext" => TextBox,
        "fldinst" => Instruction,
        "upr" => TwoForms,
        "pict" => return Some((Skip, Some(OmittedGroup::Image))),
        "annotation" => return Some((Skip, Some(OmittedGroup::Comment))),
        "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr" | "footerf" => {
            return Some((Skip, Some(OmittedGroup::HeaderOrFooter)));
        }
        // Groups with a star that readers may pass over, and whose text is text all the same.
        // A style of characters, with a star for readers that know none, is no group's meaning.
        "cs" => return None,
        "shpinst" | "do" | "shppict" | "ud" | "moMath" | "moMathPara" | "fldrslt" => Body,
        "colortbl" | "info" | "nonshppict" | "shprslt" | "sp" | "xe" | "tc" | "tcn" | "rxe" | "txe"
        | "nonesttables" | "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep" | "aftnsepc" | "aftncn" | "pn" | "pnseclvl"
        | "objdata" | "objclass" | "objname" | "filetbl" | "revtbl" | "private" | "fldtype" | "template"
        | "listtable" | "listoverridetable" | "list" | "listlevel" | "leveltext" | "levelnumbers" | "listname"
        | "listoverride" | "generator" => Skip,
        _ => {
            let is_passed_over = is_starred || (word.starts_with('m') && word.ends_with("Pr"));
            return is_passed_over.then_some((Skip, None));
        }
    };
    Some((found, None))
}

/// A character that a word stands for.
pub(super) fn character(word: &str) -> Option<&'static str> {
    Some(match word {
        "tab" => "\t",
        "line" | "softline" | "column" | "nestrow" => "\n",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        "bullet" => "•",
        "endash" => "–",
        "emdash" => "—",
        "enspace" | "emspace" | "qmspace" | "nestcell" => " ",
        _ => return None,
    })
}
